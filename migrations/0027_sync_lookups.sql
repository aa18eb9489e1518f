-- Device Sync: a device's changes meet only what others did to the same objects, however long it was away.

CREATE INDEX sync_history_objects_lookup ON tidegate.sync_history_objects (app, class, key, version);
CREATE INDEX sync_history_targets ON tidegate.sync_history (app, target_file, version) WHERE target_file IS NOT NULL;
