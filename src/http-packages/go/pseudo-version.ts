import { buildOf, canonical, incompatible, isVersion, prereleaseOf } from './semantic-version.ts';

/** Versions of commits without a tag (go.dev/ref/mod, "Pseudo-versions"). */
const form = /^v\d+\.(?:0\.0-|\d+\.\d+-(?:[^+]*\.)?0\.)\d{14}-[A-Za-z0-9]+(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

export const isPseudoVersion = (version: string): boolean =>
  version.split('-').length > 2 && isVersion(version) && form.test(version);

interface PseudoVersion {
  /** The preceding version on which it is based; empty for none, null if no such version is possible. */
  base: string | null;
  /** `20060102150405`, in UTC. */
  time: string;
  /** The first twelve digits of the commit id. */
  commit: string;
}

/** The parts of a pseudo-version; null for any other version. */
export function parsePseudoVersion(version: string): PseudoVersion | null {
  if (!isPseudoVersion(version)) return null;
  const build = buildOf(version);
  const whole = version.slice(0, version.length - build.length);
  const [, before = '', time = '', commit = ''] = /^(.*)[.-](\d{14})-([A-Za-z0-9]+)$/.exec(whole) ?? [];
  return { base: baseOf(before, build === incompatible ? '' : build), time, commit };
}

/** @param before `v1.2.4-0`, `v1.2.3-pre.0` or `v1.0.0` */
function baseOf(before: string, build: string): string | null {
  const prerelease = prereleaseOf(before);
  if (prerelease === '') return build === '' ? '' : null;
  if (prerelease !== '-0') return before.slice(0, -'.0'.length) + build;
  const [, head = '', patch = '0'] = /^(.*\.)(\d+)-0$/.exec(before) ?? [];
  return patch === '0' ? null : `${head}${BigInt(patch) - 1n}${build}`;
}

/** `20060102150405` from milliseconds since the epoch. */
export const timestampOf = (at: number): string =>
  new Date(at)
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replace(/\D/g, '');

/** The digits of a commit id in a pseudo-version; all digits for hashes other than SHA-1. */
export const shortId = (oid: string): string => (oid.length === 40 ? oid.slice(0, 12) : oid);

/**
 * The pseudo-version of a commit.
 * @param major `v2` if the module path contains it; otherwise empty
 * @param older the highest version in its history; empty for none
 */
export function pseudoVersion(major: string, older: string, { oid, at }: { oid: string; at: number }): string {
  const segment = `${timestampOf(at)}-${shortId(oid)}`;
  const base = canonical(older);
  const build = buildOf(older);
  if (base === '') return `${major === '' ? 'v0' : major}.0.0-${segment}`;
  if (prereleaseOf(base) !== '') return `${base}.0.${segment}${build}`;
  const [, head = '', patch = '0'] = /^(.*\.)(\d+)$/.exec(base) ?? [];
  return `${head}${BigInt(patch) + 1n}-0.${segment}${build}`;
}
