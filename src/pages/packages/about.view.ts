import { t } from '../../translation/index.ts';
import type { FormatName, PackageVersionRow } from '../../packages/index.ts';

/** The publisher's metadata of a version, for all formats. */
export interface VersionAbout {
  description: string;
  readme: string;
  /** Whether the README is Markdown. */
  isMarkdown: boolean;
  licence: string;
  /** http or https; empty without one. */
  website: string;
  /** The deprecation message, or that it was yanked; null for neither. */
  warning: string | null;
  dependencies: string[];
}

const nothing: VersionAbout = {
  description: '',
  readme: '',
  isMarkdown: true,
  licence: '',
  website: '',
  warning: null,
  dependencies: [],
};

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const address = (value: unknown): string => (/^https?:\/\/\S+$/.test(text(value)) ? text(value) : '');
const maxDependencies = 100;

/** Reads the metadata in the form stored by the protocols of `http-packages`. */
export function readAbout(format: FormatName, { metadata }: Pick<PackageVersionRow, 'metadata'>): VersionAbout {
  const known: unknown = JSON.parse(metadata);
  if (!isObject(known)) return nothing;
  if (format === 'npm') return ofNpm(known);
  if (format === 'pypi')
    return {
      ...nothing,
      description: text(known['summary']),
      readme: text(known['description']),
      isMarkdown: text(known['descriptionType']).toLowerCase().startsWith('text/markdown'),
      licence: text(known['license']).slice(0, 200),
      website: address(known['homePage']),
    };
  if (format === 'cargo') return ofCargo(known);
  return nothing;
}

function ofNpm(known: Json): VersionAbout {
  const manifest = isObject(known['manifest']) ? known['manifest'] : {};
  const dependencies = isObject(manifest['dependencies']) ? manifest['dependencies'] : {};
  return {
    ...nothing,
    description: text(manifest['description']),
    readme: text(known['readme']),
    licence: text(manifest['license']).slice(0, 200),
    website: address(manifest['homepage']),
    warning:
      known['deprecated'] == null ? null : t('packages.package_page.deprecated', { reason: text(known['deprecated']) }),
    dependencies: Object.entries(dependencies)
      .slice(0, maxDependencies)
      .map(([name, range]) => `${name} ${text(range)}`),
  };
}

function ofCargo(known: Json): VersionAbout {
  const index = isObject(known['index']) ? known['index'] : {};
  const dependencies = Array.isArray(index['deps']) ? index['deps'].filter(isObject) : [];
  return {
    ...nothing,
    description: text(known['description']),
    readme: text(known['readme']),
    licence: text(known['license']),
    warning: known['yanked'] === true ? t('packages.package_page.yanked') : null,
    dependencies: dependencies
      .filter(({ kind }) => kind === 'normal')
      .slice(0, maxDependencies)
      .map(({ name, req }) => `${text(name)} ${text(req)}`),
  };
}
