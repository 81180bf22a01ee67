//! Resources by name, as the fake control keeps them.

use std::collections::BTreeMap;

use api_model::Name;
use api_server::{ControlError, Kind, Put};

pub(crate) type Answer<T> = Result<T, ControlError>;

pub(crate) fn insert<K: Ord, V: Clone>(map: &mut BTreeMap<K, V>, key: K, value: V) -> Put<V> {
    match map.insert(key, value.clone()) {
        None => Put::Created(value),
        Some(_) => Put::Replaced(value),
    }
}

pub(crate) fn get<V: Clone>(map: &BTreeMap<Name, V>, kind: Kind, name: &Name) -> Answer<V> {
    map.get(name).cloned().ok_or_else(|| ControlError::not_found(kind, name))
}

pub(crate) fn remove<V>(map: &mut BTreeMap<Name, V>, kind: Kind, name: &Name) -> Answer<()> {
    map.remove(name).map(drop).ok_or_else(|| ControlError::not_found(kind, name))
}
