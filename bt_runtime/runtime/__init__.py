"""Builds trees and drives them: the stepper, the run loop, replays and traces."""
