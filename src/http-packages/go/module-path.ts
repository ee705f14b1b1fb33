import { buildOf, incompatible, majorOf } from './semantic-version.ts';

/**
 * Decodes a path or version from a proxy request, in which `!x` stands for `X` (go.dev/ref/mod, "GOPROXY protocol");
 * null if no client would send it.
 */
export function unescapePath(escaped: string): string | null {
  if (/[^\x21-\x7e]|[A-Z]|!(?![a-z])/.test(escaped)) return null;
  return escaped.replace(/!([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Names that Windows treats as devices, whatever follows a dot. */
const device = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])$/i;

const isElement = (element: string, allowed: RegExp): boolean =>
  element !== '' &&
  !/^\.*$/.test(element) &&
  !element.endsWith('.') &&
  allowed.test(element) &&
  !device.test(element.split('.', 1)[0]!);

const moduleElement = /^[A-Za-z0-9._~-]+$/;
const fileElement = /^(?:[A-Za-z0-9!#$%&()+,\-.=@[\]^_{}~ ]|(?![\0-\x7f])\p{L})+$/u;
const maxPathLength = 1024;

/** Whether Go accepts a path as a module path. */
export function isModulePath(path: string): boolean {
  const elements = path.split('/');
  return (
    path.length <= maxPathLength &&
    /^[a-z0-9.][a-z0-9.-]*$/.test(elements[0]!) &&
    elements[0]!.includes('.') &&
    elements.every(
      (element) =>
        isElement(element, moduleElement) && !element.startsWith('.') && !/~\d+$/.test(element.split('.', 1)[0]!),
    ) &&
    splitMajor(path) !== null
  );
}

/** Whether Go accepts a path as that of a file in a module. */
export const isModuleFile = (path: string): boolean =>
  path.split('/').every((element) => isElement(element, fileElement));

/** Whether it is valid after `@v/`. */
export const isVersionQuery = (text: string): boolean => isElement(text, fileElement) && !text.includes('!');

/** `/v2` at the end of a module path, and the part before it; null if it is malformed, such as `/v1`. */
export function splitMajor(path: string): { prefix: string; major: string } | null {
  if (path.startsWith('gopkg.in/')) {
    const [, prefix = '', major = ''] = /^(.+)(\.v(?:0|[1-9]\d*)(?:-unstable)?)$/.exec(path) ?? [];
    return major === '' ? null : { prefix, major };
  }
  const [, prefix = '', digits = ''] = /^(.+)\/v([\d.]+)$/.exec(path) ?? [];
  if (digits === '') return { prefix: path, major: '' };
  return /^[1-9]\d*$/.test(digits) && digits !== '1' ? { prefix, major: `/v${digits}` } : null;
}

/** `v2` for `/v2`, and for `.v2-unstable`. */
export const majorOfSuffix = (suffix: string): string => suffix.slice(1).replace(/-unstable$/, '');

/** Whether a version is possible for a module whose path ends like this. */
export function fitsMajor(version: string, suffix: string): boolean {
  const major = majorOf(version);
  return suffix === ''
    ? major === 'v0' || major === 'v1' || buildOf(version) === incompatible
    : major === majorOfSuffix(suffix);
}

/** Whether the path declared by a `go.mod` is valid for the versions of a module whose path ends like this. */
export function declaresMajor(declared: string, suffix: string): boolean {
  const split = declared === '' ? null : splitMajor(declared);
  if (split === null) return false;
  if (suffix === '') return ['', 'v0', 'v1'].includes(majorOfSuffix(split.major));
  return split.major.slice(1) === suffix.slice(1);
}
