"""Trees by name: folders, files, versions, reloading."""
