import { randomUUID } from 'node:crypto';
import { visitAll } from '../../kernel/index.ts';
import { releaseObjects, writeRefs } from './move-refs.ts';
import type { MoveDeps } from './move-refs.ts';
import type { RawUpdate } from './push-header.ts';
import type { RefResult } from './report-status.ts';

/** Namespace of temporary refs for the objects of a push with many new refs, until the refs themselves are written. */
const folder = 'incoming/';
/** The namespace as git knows it. */
export const incomingFolder = 'refs/hearth/incoming';

/**
 * For a push of many new refs, git gets one command per distinct object: it checks and stores the pack as usual, below
 * `refs/hearth/incoming/`. The refs themselves are then written as lines of one file, whereas git would write and
 * rename a file for each.
 */
export class IncomingRefs {
  /** The commands for git. */
  readonly commands: readonly RawUpdate[];
  readonly #names: readonly string[];
  readonly #updates: readonly RawUpdate[];

  private constructor(updates: readonly RawUpdate[], newIds: readonly string[]) {
    const push = randomUUID();
    this.#updates = updates;
    this.#names = newIds.map((_, at) => `${folder}${push}/${at}`);
    this.commands = newIds.map((newId, at) => {
      const ref = `refs/hearth/${this.#names[at]}`;
      return { ref, rawRef: ref, oldId: '0'.repeat(newId.length), newId };
    });
  }

  /** Null if the refs name so many objects that this saves nothing. @param updates creations */
  static of(updates: readonly RawUpdate[]): IncomingRefs | null {
    const newIds = new Set<string>();
    const most = updates.length / 2;
    for (const { newId } of updates) if (newIds.add(newId).size > most) return null;
    return new IncomingRefs(updates, [...newIds]);
  }

  /**
   * Creates the refs whose objects git has accepted.
   * @param gitResults git's report about `commands`
   */
  async create(
    deps: Pick<MoveDeps, 'runner' | 'readers'>,
    path: string,
    gitResults: readonly RefResult[],
    options: { isAtomic: boolean },
  ): Promise<Map<RawUpdate, RefResult>> {
    const results = new Map<RawUpdate, RefResult>();
    const moves: RawUpdate[] = [];
    const taken = this.resultsOf(gitResults);
    await visitAll(this.#updates, (update, at) => {
      if (taken[at]!.ok) moves.push(update);
      else results.set(update, taken[at]!);
    });
    if (moves.length > 0) {
      const made = await writeRefs(deps, path, moves, options);
      await visitAll(moves, (update, at) => results.set(update, made[at]!));
    }
    return results;
  }

  /** Whether git has accepted the object of each ref, in ref order. @param gitResults as above */
  resultsOf(gitResults: readonly RefResult[]): RefResult[] {
    const taken = new Map(this.commands.map(({ newId }, at) => [newId, gitResults[at]!]));
    return this.#updates.map(({ ref, newId }) => {
      const { ok, reason = 'refused' } = taken.get(newId)!;
      return ok ? { ref, ok } : { ref, ok, reason };
    });
  }

  /** Removes the temporary refs of this push. */
  async release(deps: Pick<MoveDeps, 'runner'>, path: string): Promise<void> {
    await releaseObjects(deps, path, this.#names);
  }
}
