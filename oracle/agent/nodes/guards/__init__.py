"""The guards of the agent's trees, one file each: SUCCESS while the run may go on."""
