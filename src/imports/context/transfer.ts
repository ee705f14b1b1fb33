import type { Mirrors } from '../../mirrors/index.ts';
import type { OpenedFile } from '../client/open-source-file.ts';

type Bring = Mirrors['bring'];
type Base = { base: ReadonlyMap<string, string> };

/** Transfers code, wiki, Git LFS objects and releases: from a forge, or from local files. */
export interface Transfer {
  refs(options: Base & { pullRefs: readonly string[] }): ReturnType<Bring['refs']>;
  /**
   * @returns items that could not be transferred
   */
  lfs(): Promise<string[]>;
  wiki(options: Base): ReturnType<Bring['wiki']>;
  /**
   * @param tellName receives a sentence for each file that has another name here
   * @returns items that could not be transferred
   */
  releases(tellName: (sentence: string) => void): Promise<string[]>;
}

/** Opens files of the source. Throws `source_failed` with the reason as a message. */
export interface SourceFiles {
  /** An attached file of a text. */
  open(key: string, name: string): Promise<OpenedFile>;
  /** The picture at the first of these addresses that has it; missing for a source without pictures. */
  openPicture?(addresses: readonly string[]): Promise<OpenedFile>;
}
