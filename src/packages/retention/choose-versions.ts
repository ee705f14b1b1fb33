import { fitsPattern } from './retention-rules.ts';
import type { RetentionRules } from './retention-rules.ts';

/** The data of a version outside the trash that the rules need. */
export interface RetainedVersion {
  id: string;
  version: string;
  /** Time of publication; for an image, of its last push. */
  at: number;
  tags: readonly string[];
  /** The version that a signature is about; otherwise null. */
  subject: string | null;
  /** Versions that an index consists of. */
  parts: readonly string[];
}

const dayMs = 86_400_000;

/** The version that a manifest is about; cosign may say it only in a tag, `sha256-….sig` for `sha256:…`. */
function subjectOf({ subject, tags }: RetainedVersion): string | null {
  if (subject !== null || tags.length === 0) return subject;
  const named = tags.map((tag) => /^(sha256|sha512)-([0-9a-f]{64,128})(?:\.[a-z]{1,16})?$/.exec(tag));
  const [first] = named;
  return first != null && named.every((one) => one !== null) ? `${first[1]}:${first[2]}` : null;
}

/**
 * The versions that the rules do not keep. Parts of an image, and manifests about another one, are not counted: they
 * are kept and deleted with it. The version tagged `latest` is kept.
 */
export function chooseVersions(rules: RetentionRules, all: readonly RetainedVersion[], now: number): RetainedVersion[] {
  const versions = all.map((one) => ({ ...one, subject: subjectOf(one) }));
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
  return all.filter(({ version }) => !kept.has(version));
}

/** Parts of a kept version, and manifests about it, are kept. */
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
