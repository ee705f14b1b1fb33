import { invalid } from '../../kernel/index.ts';
import type { FileOperation } from '../contents/file-operation.ts';
import { findGitignoreTemplate, gitignoreTemplates } from './gitignore-templates.ts';
import type { GitignoreName } from './gitignore-templates.ts';
import { findLicenceTemplate, licenceTemplates, renderLicence } from './licence-templates.ts';
import type { LicenceName } from './licence-templates.ts';

/** Initial content of a new repository. */
export interface InitialFiles {
  /** `bare`: as Gitea writes it, without the trailing line feed. */
  readme?: boolean | 'bare' | undefined;
  /** An SPDX identifier, ignoring case. */
  licence?: string | undefined;
  /** Names of templates; several are joined into one file. */
  gitignore?: readonly string[] | undefined;
}

interface CheckedInitialFiles {
  readme: boolean | 'bare';
  licence: LicenceName | null;
  gitignore: GitignoreName[];
}

/** Null if no files are wanted. Throws `unknown_licence`, `unknown_gitignore`, listing the available names. */
export function checkInitialFiles({
  readme = false,
  licence,
  gitignore = [],
}: InitialFiles): CheckedInitialFiles | null {
  const known = licence === undefined || licence.trim() === '' ? null : findLicenceTemplate(licence);
  if (licence !== undefined && licence.trim() !== '' && known === null)
    throw invalid('unknown_licence', `Choose one of ${Object.keys(licenceTemplates).join(', ')}.`, {
      field: 'license',
    });
  const templates = gitignore
    .filter((name) => name.trim() !== '')
    .map((name) => {
      const template = findGitignoreTemplate(name);
      if (template !== null) return template;
      throw invalid('unknown_gitignore', `Choose from ${Object.keys(gitignoreTemplates).join(', ')}.`, {
        field: 'gitignores',
      });
    });
  if (!readme && known === null && templates.length === 0) return null;
  return { readme, licence: known, gitignore: [...new Set(templates)] };
}

/** Generates the files. @param holder the copyright holder */
export function createInitialFiles(
  { readme, licence, gitignore }: CheckedInitialFiles,
  { name, description, holder, year }: { name: string; description: string; holder: string; year: number },
): FileOperation[] {
  const create = (path: string, text: string): FileOperation => ({ kind: 'create', path, content: Buffer.from(text) });
  const text = `# ${name}\n${description === '' ? '' : `\n${description}\n`}`;
  const ignored = gitignore.map((each) =>
    gitignore.length === 1 ? gitignoreTemplates[each] : `### ${each}\n\n${gitignoreTemplates[each]}`,
  );
  return [
    ...(readme ? [create('README.md', readme === 'bare' ? text.trimEnd() : text)] : []),
    ...(licence === null ? [] : [create('LICENSE', renderLicence(licence, { holder, year }))]),
    ...(ignored.length === 0 ? [] : [create('.gitignore', ignored.join('\n'))]),
  ];
}
