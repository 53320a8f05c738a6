"""The HTTP service."""


class Service:
    """Starts, listens on a port, stops."""

    def start(self, port):
        """Start the service on a port."""

    def install_signal_handlers(self):
        """Install what stops the service."""

    def run(self):
        """Run the service in a project."""


def deploy_hook(service):
    """Called by the deployment when the service has been upgraded."""
