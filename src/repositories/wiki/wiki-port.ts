import type { Viewer } from '../../access/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/** What happened to a page of a wiki. */
export interface WikiPageChange {
  action: 'created' | 'edited' | 'deleted';
  title: string;
}

/** Pages that a commit or a push changed. */
export interface WikiChange {
  /** The repository that the wiki belongs to. */
  found: { repository: Repository };
  viewer: Viewer;
  pages: readonly WikiPageChange[];
  /** The commit that has them. */
  commit: string;
  /** Of the commit, for a page that was edited in the browser. */
  message: string;
}

/** Called after the change is stored; errors are logged. */
export type WikiListener = (change: WikiChange) => Promise<void>;
