import type { ChangedFile } from '../../git/index.ts';
import { pathText } from '../../pulls/index.ts';
import type { ListedThread } from '../../pulls/index.ts';
import type { DiffRow } from '../code/diff-lines.view.ts';
import type { ThreadView } from './thread.view.ts';

/** The threads and the form at a line, at a file, or at the top of a page of changes. */
type PlacedItem<Form> = { thread: ThreadView; form?: never } | { thread?: never; form: Form };

export interface PlacedThread {
  thread: ListedThread;
  view: ThreadView;
}

export interface PlacedForm<Form> {
  form: Form;
  /** In the form of `pathText`; null for the round as a whole. */
  path: string | null;
  side: 'OLD' | 'NEW';
  /** Null for the whole file. */
  lastLine: number | null;
}

/** The threads of one file. */
interface FilePlacements<Form> {
  /** Returns the content below a row. */
  atRow(row: DiffRow): PlacedItem<Form>[];
  /** Returns the threads without a row on the page; call it after the rows. */
  rest(): PlacedItem<Form>[];
}

/**
 * Places threads and the form of a new one at their lines. Each is returned once: threads without a line on the page
 * are at the top of their file, and those without a file at the top of the page, so that none is lost.
 */
export class ThreadPlacements<Form> {
  #threads: PlacedThread[];
  #form: PlacedForm<Form> | null;
  readonly #isWhole: boolean;

  /**
   * @param isWhole whether the older side is the base of the round: then lines before the change are lines of the base
   */
  constructor(threads: readonly PlacedThread[], form: PlacedForm<Form> | null, isWhole: boolean) {
    this.#threads = [...threads];
    this.#form = form;
    this.#isWhole = isWhole;
  }

  ofFile(file: ChangedFile): FilePlacements<Form> {
    const names = { OLD: [pathText(file.oldPath), pathText(file.newPath)], NEW: [pathText(file.newPath)] };
    const isHere = (path: string | null, side: 'OLD' | 'NEW' | null): boolean =>
      path !== null && names[side ?? 'NEW'].includes(path);
    const isOwn = ({ thread: { path, side, place } }: PlacedThread): boolean => isHere(place?.path ?? path, side);
    let threads = this.#threads.filter(isOwn);
    this.#threads = this.#threads.filter((placed) => !threads.includes(placed));
    let form = this.#form !== null && isHere(this.#form.path, this.#form.side) ? this.#form : null;
    if (form !== null) this.#form = null;
    const take = (
      takesThread: (thread: ListedThread) => boolean,
      takesForm: (form: PlacedForm<Form>) => boolean,
    ): PlacedItem<Form>[] => {
      if (threads.length === 0 && form === null) return [];
      const taken = threads.filter(({ thread }) => takesThread(thread));
      threads = threads.filter((placed) => !taken.includes(placed));
      const found: PlacedItem<Form>[] = taken.map(({ view }) => ({ thread: view }));
      if (form !== null && takesForm(form)) {
        found.push({ form: form.form });
        form = null;
      }
      return found;
    };
    const all = () => true;
    return {
      atRow: ({ old, fresh }) => {
        const isLine = (side: 'OLD' | 'NEW' | null, line: number | null): boolean =>
          line !== null && (side === 'OLD' ? this.#isWhole && line === old : line === fresh);
        return take(
          ({ side, place }) => place !== null && place.state !== 'gone' && isLine(side, place.lastLine),
          ({ side, lastLine }) => isLine(side, lastLine),
        );
      },
      // The form comes first: the URL scrolls to it, and content above it would be hidden behind the file name.
      rest: () =>
        take(all, all).toSorted((one, other) => Number(one.form === undefined) - Number(other.form === undefined)),
    };
  }

  /** Returns the remaining threads; call it after all files. */
  rest(): PlacedItem<Form>[] {
    const left: PlacedItem<Form>[] = this.#threads.map(({ view }) => ({ thread: view }));
    this.#threads = [];
    if (this.#form !== null) left.unshift({ form: this.#form.form });
    this.#form = null;
    return left;
  }
}
