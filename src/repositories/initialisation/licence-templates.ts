import { embedded } from '../../embedded/index.ts';

/** Licences by SPDX identifier. */
export const licenceTemplates = {
  MIT: 'MIT License',
  'Apache-2.0': 'Apache License 2.0',
  'GPL-3.0': 'GNU General Public License v3.0',
  'AGPL-3.0': 'GNU Affero General Public License v3.0',
  'BSD-3-Clause': 'BSD 3-Clause License',
  'MPL-2.0': 'Mozilla Public License 2.0',
  'CC0-1.0': 'Creative Commons Zero v1.0 Universal',
  Unlicense: 'The Unlicense',
} as const;

export type LicenceName = keyof typeof licenceTemplates;

/** Gitea's clients spell versions more precisely. */
const aliases: Readonly<Record<string, LicenceName>> = {
  'gpl-3.0-only': 'GPL-3.0',
  'gpl-3.0-or-later': 'GPL-3.0',
  'agpl-3.0-only': 'AGPL-3.0',
  'agpl-3.0-or-later': 'AGPL-3.0',
  cc0: 'CC0-1.0',
};

/** The licence with this name, ignoring case; null if there is none. */
export function findLicenceTemplate(name: string): LicenceName | null {
  const folded = name.trim().toLowerCase();
  const known = (Object.keys(licenceTemplates) as LicenceName[]).find((each) => each.toLowerCase() === folded);
  return known ?? (Object.hasOwn(aliases, folded) ? aliases[folded]! : null);
}

/** The licence text, with the copyright holder filled in where it names one. */
export function renderLicence(name: LicenceName, { holder, year }: { holder: string; year: number }): string {
  return embedded
    .asset(`licences/${name.toLowerCase()}.txt`)
    .toString()
    .replace('<year>', String(year))
    .replace(/<copyright holders>|<owner>/, () => holder.replaceAll(/[\x00-\x1f\x7f]+/g, ' '));
}
