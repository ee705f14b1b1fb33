import type { Viewer } from '../../access/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/** A change to a wiki page. */
export interface WikiPageChange {
  action: 'created' | 'edited' | 'deleted';
  title: string;
}

/** Pages changed by a commit or a push. */
export interface WikiChange {
  /** The repository that the wiki belongs to. */
  found: { repository: Repository };
  viewer: Viewer;
  pages: readonly WikiPageChange[];
  /** The commit that contains them. */
  commit: string;
  /** Commit message, for a page edited in the browser. */
  message: string;
}

/** Called after the change is stored; errors are logged. */
export type WikiListener = (change: WikiChange) => Promise<void>;
