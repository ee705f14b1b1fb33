import { invalid } from '../../kernel/index.ts';

export const formatNames = ['cargo', 'generic', 'maven', 'npm', 'oci', 'pypi'] as const;
/** The supported formats; each has a protocol folder in `src/http-packages`. */
export type FormatName = (typeof formatNames)[number];

/** The rules of a format for names and versions. */
export interface PackageFormat {
  name: FormatName;
  /** Display name. */
  title: string;
  /** Key by which a name is unique for an owner. Throws `invalid_package_name`. */
  nameKey(name: string): string;
  /** Key by which a version is unique in its package. Throws `invalid_package_version`. */
  versionKey(version: string): string;
}

export const invalidName = (message: string) => invalid('invalid_package_name', message, { field: 'name' });
export const invalidVersion = (message: string) => invalid('invalid_package_version', message, { field: 'version' });

/** A key of one shape, perhaps in another spelling. */
export function keyOf(
  shape: RegExp,
  refuse: (message: string) => Error,
  message: string,
  spell: (text: string) => string = (text) => text,
): (text: string) => string {
  return (text) => {
    if (!shape.test(text)) throw refuse(message);
    return spell(text);
  };
}
