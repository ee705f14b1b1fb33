import type { WebDeps } from '../../web/index.ts';
import type { CodeDeps } from '../code/deps.ts';
import type { IssuesDeps } from '../issues/deps.ts';

/** The modules that the pages of this folder call: a pull request is a conversation and code. */
export type PullsDeps = IssuesDeps & CodeDeps & Pick<WebDeps, 'pulls' | 'ssh' | 'ci'>;
