import { invalidName, invalidVersion, keyOf } from './format.ts';
import type { FormatName, PackageFormat } from './format.ts';

const lower = (text: string): string => text.toLowerCase();
/** PEP 503. */
const pythonName = (text: string): string => lower(text).replace(/[-_.]+/g, '-');

const semanticVersion =
  /^(?=.{1,128}$)(?:0|[1-9]\d{0,15})\.(?:0|[1-9]\d{0,15})\.(?:0|[1-9]\d{0,15})(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const ofSemanticVersion = keyOf(
  semanticVersion,
  invalidVersion,
  'A version has the form 1.2.3 or 1.2.3-beta.1 (semver.org), with at most 128 characters.',
);

/** Path segments of Maven names, and file names of generic packages: not only dots, no slash, no control character. */
export const isFileName = (text: string): boolean => /^(?!\.{1,2}$)[A-Za-z0-9._+~@,() -]{1,255}$/.test(text);

const all: Readonly<Record<FormatName, Omit<PackageFormat, 'name'>>> = {
  oci: {
    title: 'Container',
    // Distribution Specification 1.1, "Pulling manifests", without the owner, which is the first segment.
    nameKey: keyOf(
      /^(?=.{1,200}$)[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/,
      invalidName,
      'The name of an image has parts of lower-case letters, digits, and single ".", "_" or "-" between them.',
    ),
    versionKey: keyOf(
      /^sha256:[0-9a-f]{64}$|^sha512:[0-9a-f]{128}$/,
      invalidVersion,
      'A manifest is named by the digest sha256:… or sha512:….',
    ),
  },
  generic: {
    title: 'Generic',
    nameKey: keyOf(
      /^(?!\.{1,2}$)[A-Za-z0-9._+-]{1,200}$/,
      invalidName,
      'A name has at most 200 letters, digits, ".", "_", "+" and "-".',
    ),
    versionKey: keyOf(
      /^(?!\.{1,2}$)[A-Za-z0-9._+~-]{1,128}$/,
      invalidVersion,
      'A version has at most 128 letters, digits, ".", "_", "+", "~" and "-".',
    ),
  },
  npm: {
    title: 'npm',
    nameKey: keyOf(
      /^(?=.{1,214}$)(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/,
      invalidName,
      'The name of an npm package has lower-case letters, digits, "-", "." and "_", perhaps after a scope "@owner/".',
    ),
    versionKey: ofSemanticVersion,
  },
  pypi: {
    title: 'PyPI',
    nameKey: keyOf(
      /^(?=.{1,200}$)[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/,
      invalidName,
      'The name of a Python package has letters, digits, ".", "_" and "-", and begins and ends with one of the first two.',
      pythonName,
    ),
    versionKey: keyOf(
      /^(?=.{1,128}$)v?(?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?dev[-_.]?\d*)?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?$/i,
      invalidVersion,
      'A version has the form of PEP 440: 1.2.3, 1.0rc1, 2.0.post1.',
      lower,
    ),
  },
  cargo: {
    title: 'Cargo',
    nameKey: keyOf(
      /^(?=.{1,64}$)[A-Za-z][A-Za-z0-9_-]*$/,
      invalidName,
      'The name of a crate begins with a letter and has at most 64 letters, digits, "-" and "_".',
      (text) => lower(text).replaceAll('-', '_'),
    ),
    // Build metadata does not make a different version.
    versionKey: (version) => ofSemanticVersion(version).replace(/\+.*$/, ''),
  },
  maven: {
    title: 'Maven',
    nameKey: keyOf(
      /^(?=.{3,200}$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*:[A-Za-z0-9_-][A-Za-z0-9._-]*$/,
      invalidName,
      'A name of Maven is a group and an artifact, of letters, digits, ".", "_" and "-".',
    ),
    versionKey: keyOf(
      /^(?!\.{1,2}$)[A-Za-z0-9._+-]{1,128}$/,
      invalidVersion,
      'A version has at most 128 letters, digits, ".", "_", "+" and "-".',
    ),
  },
};

export const formatOf = (name: FormatName): PackageFormat => ({ name, ...all[name] });
