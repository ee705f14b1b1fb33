import { fitsPattern } from './retention-rules.ts';
import type { RetentionRules } from './retention-rules.ts';

/** What the rules need to know of a version outside the trash. */
export interface RetainedVersion {
  id: string;
  version: string;
  /** When it was published; of an image, when it was last pushed. */
  at: number;
  tags: readonly string[];
  /** The version that it is about, of a signature; null for none. */
  subject: string | null;
  /** Versions that it is made of, of an index. */
  parts: readonly string[];
}

const dayMs = 86_400_000;

/**
 * The versions that the rules do not keep. Versions of an image that another one is made of, or that are about another
 * one, are not counted: they stay and go with it. The version that `latest` names stays.
 */
export function chooseVersions(
  rules: RetentionRules,
  versions: readonly RetainedVersion[],
  now: number,
): RetainedVersion[] {
  const byName = new Map(versions.map((one) => [one.version, one]));
  const parts = new Set(versions.flatMap((one) => one.parts));
  const isOwn = (one: RetainedVersion): boolean =>
    (!parts.has(one.version) || one.tags.length > 0) && (one.subject === null || !byName.has(one.subject));
  const before = rules.olderThanDays === null ? Infinity : now - rules.olderThanDays * dayMs;

  const kept = new Set<string>();
  let counted = 0;
  for (const one of versions.toSorted((left, right) => right.at - left.at)) {
    if (!isOwn(one)) continue;
    counted += 1;
    const isNew = rules.keep !== null && counted <= rules.keep;
    const names = [one.version, ...one.tags];
    const isNamed =
      one.tags.includes('latest') || rules.keepTags.some((pattern) => names.some((name) => fitsPattern(name, pattern)));
    if (isNew || isNamed || one.at >= before) kept.add(one.version);
  }
  keepWhatBelongs(kept, versions, byName);
  return versions.filter(({ version }) => !kept.has(version));
}

/** What a kept version is made of stays, and what is about it. */
function keepWhatBelongs(
  kept: Set<string>,
  versions: readonly RetainedVersion[],
  byName: ReadonlyMap<string, RetainedVersion>,
): void {
  const about = Map.groupBy(versions, ({ subject }) => subject ?? '');
  const open = [...kept];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const near = [...(byName.get(name)?.parts ?? []), ...(about.get(name) ?? []).map(({ version }) => version)];
    for (const one of near)
      if (!kept.has(one)) {
        kept.add(one);
        open.push(one);
      }
  }
}
