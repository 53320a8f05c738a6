/** A page that has failed to draw says so; the rest of the console goes on. */
import { Component, type ReactNode } from "react";
import { Button } from "@/parts/Button";
import { EmptyState } from "@/parts/EmptyState";

interface State {
  error: unknown;
}

export class Failure extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <EmptyState
        isPage
        title="This page could not be shown"
        action={<Button onClick={() => location.reload()}>Reload</Button>}
      >
        {error instanceof Error ? error.message : "An unknown error."}
      </EmptyState>
    );
  }
}
