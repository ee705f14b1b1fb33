import type { IssueStateView } from './issue-row.view.ts';
import type { LabelView } from './label.view.ts';

/** A sentence in segments, so that the template escapes each. */
export type EventPart =
  | { text: string }
  | { strong: string }
  | { label: LabelView }
  | { link: string; name: string; isCode?: boolean }
  /** Another issue, with its state. */
  | { issue: OtherIssueView };

export interface OtherIssueView {
  url: string;
  /** `#7` or `owner/name#7`. */
  name: string;
  title: string;
  isOpen: boolean;
  state: IssueStateView;
}
