/**
 * Versions in Go's notation (go.dev/ref/mod, "Versions"): `v1.2.3-pre+build`. Short forms, `v1` and `v1.2`, are valid
 * but not canonical.
 */
interface SemanticVersion {
  numbers: readonly [major: string, minor: string, patch: string];
  /** With its hyphen; empty without one. */
  prerelease: string;
  /** With its plus sign; empty without one. */
  build: string;
}

const number = '(0|[1-9]\\d*)';
const identifiers = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const form = new RegExp(`^v${number}(?:\\.${number}(?:\\.${number}(-${identifiers})?(\\+${identifiers})?)?)?$`);
const maxLength = 255;

function parse(version: string): SemanticVersion | null {
  if (version.length > maxLength) return null;
  const [found, major = '', minor = '0', patch = '0', prerelease = '', build = ''] = form.exec(version) ?? [];
  const hasLeadingZero = prerelease
    .slice(1)
    .split('.')
    .some((part) => /^0\d+$/.test(part));
  return found === undefined || hasLeadingZero ? null : { numbers: [major, minor, patch], prerelease, build };
}

export const isVersion = (version: string): boolean => parse(version) !== null;

/** `v1` of `v1.2.3`; empty for an invalid version. */
export function majorOf(version: string): string {
  const parsed = parse(version);
  return parsed === null ? '' : `v${parsed.numbers[0]}`;
}

export const prereleaseOf = (version: string): string => parse(version)?.prerelease ?? '';

export const buildOf = (version: string): string => parse(version)?.build ?? '';

/** The canonical form, without build metadata; empty for an invalid version. */
export function canonical(version: string): string {
  const parsed = parse(version);
  return parsed === null ? '' : `v${parsed.numbers.join('.')}${parsed.prerelease}`;
}

export const incompatible = '+incompatible';

/** The same with `+incompatible`, the only build metadata allowed in a module version. */
export const canonicalOfModule = (version: string): string =>
  canonical(version) + (buildOf(version) === incompatible ? incompatible : '');

/** Negative if the first is lower. Invalid versions sort below all valid ones. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [parse(one), parse(other)];
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  for (const at of [0, 1, 2] as const) {
    const order = compareNumbers(a.numbers[at], b.numbers[at]);
    if (order !== 0) return order;
  }
  return comparePrereleases(a.prerelease, b.prerelease);
}

/** Compares decimal numbers of any length without leading zeros. */
const compareNumbers = (one: string, other: string): number => one.length - other.length || compareText(one, other);

const compareText = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

function comparePrereleases(one: string, other: string): number {
  if (one === '' || other === '') return Number(one === '') - Number(other === '');
  const [a, b] = [one.slice(1).split('.'), other.slice(1).split('.')];
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const [x, y] = [a[at]!, b[at]!];
    if (x === y) continue;
    const [isNumber, isOtherNumber] = [/^\d+$/.test(x), /^\d+$/.test(y)];
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return isNumber ? compareNumbers(x, y) : compareText(x, y);
  }
  return a.length - b.length;
}
