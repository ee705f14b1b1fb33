import type { Mirrors } from '../../mirrors/index.ts';
import type { OpenedFile } from '../client/open-source-file.ts';

type Bring = Mirrors['bring'];
type Base = { base: ReadonlyMap<string, string> };

/** What brings code, wiki, objects of Git LFS and releases: from a forge, or from files of this machine. */
export interface Transfer {
  refs(options: Base & { pullRefs: readonly string[] }): ReturnType<Bring['refs']>;
  /** @returns what did not arrive */
  lfs(): Promise<string[]>;
  wiki(options: Base): ReturnType<Bring['wiki']>;
  /** @returns what did not arrive */
  releases(): Promise<string[]>;
}

/** What opens an attached file of texts. Refuses `source_failed` with the reason in words. */
export interface SourceFiles {
  open(key: string, name: string): Promise<OpenedFile>;
}
