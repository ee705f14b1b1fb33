import { invalid } from '../../kernel/index.ts';
import type { FileOperation } from '../contents/file-operation.ts';
import { gitignoreOf, gitignores } from './gitignores.ts';
import type { GitignoreName } from './gitignores.ts';
import { licenceOf, licences, licenceText } from './licences.ts';
import type { LicenceName } from './licences.ts';

/** What a new repository begins with. */
export interface FirstFiles {
  readme?: boolean | undefined;
  /** An SPDX name, in any case. */
  licence?: string | undefined;
  /** Names of templates; several become one file. */
  gitignore?: readonly string[] | undefined;
}

export interface CheckedFirstFiles {
  readme: boolean;
  licence: LicenceName | null;
  gitignore: GitignoreName[];
}

/** Null for no files at all. Refuses `unknown_licence`, `unknown_gitignore` with what there is. */
export function checkFirstFiles({ readme = false, licence, gitignore = [] }: FirstFiles): CheckedFirstFiles | null {
  const known = licence === undefined || licence.trim() === '' ? null : licenceOf(licence);
  if (licence !== undefined && licence.trim() !== '' && known === null)
    throw invalid('unknown_licence', `Choose one of ${Object.keys(licences).join(', ')}.`, { field: 'license' });
  const templates = gitignore
    .filter((name) => name.trim() !== '')
    .map((name) => {
      const template = gitignoreOf(name);
      if (template !== null) return template;
      throw invalid('unknown_gitignore', `Choose of ${Object.keys(gitignores).join(', ')}.`, { field: 'gitignores' });
    });
  if (!readme && known === null && templates.length === 0) return null;
  return { readme, licence: known, gitignore: [...new Set(templates)] };
}

/** The files themselves. @param holder who has the copyright */
export function firstFiles(
  { readme, licence, gitignore }: CheckedFirstFiles,
  { name, description, holder, year }: { name: string; description: string; holder: string; year: number },
): FileOperation[] {
  const create = (path: string, text: string): FileOperation => ({ kind: 'create', path, content: Buffer.from(text) });
  const ignored = gitignore.map((each) =>
    gitignore.length === 1 ? gitignores[each] : `### ${each}\n\n${gitignores[each]}`,
  );
  return [
    ...(readme ? [create('README.md', `# ${name}\n${description === '' ? '' : `\n${description}\n`}`)] : []),
    ...(licence === null ? [] : [create('LICENSE', licenceText(licence, { holder, year }))]),
    ...(ignored.length === 0 ? [] : [create('.gitignore', ignored.join('\n'))]),
  ];
}
