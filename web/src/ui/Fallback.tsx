import { Component, type ReactNode } from 'react';

interface Props {
  /** Stands there instead. */
  show: ReactNode;
  children: ReactNode;
}

/** Shows something plainer where a part fails, as when its code cannot be loaded offline: the page goes on. */
export class Fallback extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? this.props.show : this.props.children;
  }
}
