//! Questions to a service manager. None of them loads, starts or changes anything: `GetUnit`, never
//! `LoadUnit`, and properties are read only of a unit that is loaded (the object path of any other
//! would load it, and answer with defaults).

use std::collections::HashMap;

use zbus::{OwnedObjectPath, OwnedVariant};

use super::{
    bag::Bag,
    client::{CallError, Client, Target},
    dial::MANAGER,
    unit::Unit,
};

/// The manager's object.
pub(crate) const MANAGER_OBJECT: Target<'static> = Target {
    name: MANAGER,
    path: "/org/freedesktop/systemd1",
    interface: "org.freedesktop.systemd1.Manager",
};
/// The error of `GetUnit` for a unit that is not loaded.
const NO_SUCH_UNIT: &str = "org.freedesktop.systemd1.NoSuchUnit";
/// The error of `GetUnitByPID` for a process that belongs to none.
const NO_UNIT_FOR_PID: &str = "org.freedesktop.systemd1.NoUnitForPID";

/// One line of `ListUnitsByPatterns`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedUnit {
    /// Its name.
    pub name: String,
    /// `LoadState`.
    pub load_state: String,
    /// `ActiveState`.
    pub active_state: String,
    /// `SubState`.
    pub sub_state: String,
}

/// One line of `ListUnitFilesByPatterns`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledUnit {
    /// The unit file.
    pub path: String,
    /// `enabled`, `disabled`, `masked`, …
    pub state: String,
}

type ListedRow = (
    String,
    String,
    String,
    String,
    String,
    String,
    OwnedObjectPath,
    u32,
    String,
    OwnedObjectPath,
);

impl Client {
    /// The unit of that name; `None` where it is not loaded.
    pub async fn unit(&self, name: &str) -> Result<Option<Unit>, CallError> {
        self.found_unit(self.call(MANAGER_OBJECT, "GetUnit", &name).await)
            .await
    }

    /// The unit that a process belongs to; `None` where it belongs to none.
    pub async fn unit_of(&self, pid: u32) -> Result<Option<Unit>, CallError> {
        self.found_unit(self.call(MANAGER_OBJECT, "GetUnitByPID", &pid).await)
            .await
    }

    /// Loaded units whose name matches one of these shell patterns.
    pub async fn loaded_units(&self, patterns: &[&str]) -> Result<Vec<LoadedUnit>, CallError> {
        let any_state: &[&str] = &[];
        let rows: Vec<ListedRow> = self
            .call(
                MANAGER_OBJECT,
                "ListUnitsByPatterns",
                &(any_state, patterns),
            )
            .await?;
        let unit = |(name, _, load_state, active_state, sub_state, ..): ListedRow| LoadedUnit {
            name,
            load_state,
            active_state,
            sub_state,
        };
        Ok(rows.into_iter().map(unit).collect())
    }

    /// Unit files whose name matches one of these shell patterns, loaded or not.
    pub async fn installed_units(
        &self,
        patterns: &[&str],
    ) -> Result<Vec<InstalledUnit>, CallError> {
        let any_state: &[&str] = &[];
        let rows: Vec<(String, String)> = self
            .call(
                MANAGER_OBJECT,
                "ListUnitFilesByPatterns",
                &(any_state, patterns),
            )
            .await?;
        Ok(rows
            .into_iter()
            .map(|(path, state)| InstalledUnit { path, state })
            .collect())
    }

    async fn found_unit(
        &self,
        found: Result<OwnedObjectPath, CallError>,
    ) -> Result<Option<Unit>, CallError> {
        let path = match found {
            Ok(path) => path,
            Err(error) if matches!(error.name(), Some(NO_SUCH_UNIT | NO_UNIT_FOR_PID)) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let mut bag = Bag::default();
        bag.extend(
            self.properties(&path, "org.freedesktop.systemd1.Unit")
                .await?,
        );
        let name = bag.text("Id").unwrap_or_default();
        if let Some(interface) = interface_of(&name) {
            bag.extend(self.properties(&path, interface).await?);
        }
        Ok(Some(Unit::read(&bag)))
    }

    /// All properties of one interface of an object.
    pub(crate) async fn properties(
        &self,
        path: &str,
        interface: &str,
    ) -> Result<HashMap<String, OwnedVariant>, CallError> {
        self.properties_at(MANAGER, path, interface).await
    }

    /// The same, of an object of any name.
    pub(crate) async fn properties_at(
        &self,
        name: &str,
        path: &str,
        interface: &str,
    ) -> Result<HashMap<String, OwnedVariant>, CallError> {
        let object = Target {
            name,
            path,
            interface: "org.freedesktop.DBus.Properties",
        };
        self.call(object, "GetAll", &interface).await
    }
}

fn interface_of(unit: &str) -> Option<&'static str> {
    match unit.rsplit_once('.')?.1 {
        "service" => Some("org.freedesktop.systemd1.Service"),
        "scope" => Some("org.freedesktop.systemd1.Scope"),
        "slice" => Some("org.freedesktop.systemd1.Slice"),
        _ => None,
    }
}
