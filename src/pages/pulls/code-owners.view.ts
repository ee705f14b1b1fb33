import type { MergeBox, OwnersFault } from '../../pulls/index.ts';
import { codeUrl } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { viewCount } from '../app/format-numbers.ts';

/** Whose files are changed, and what of the file of owners has no effect. */
export interface CodeOwnersView {
  file: { name: string; url: string };
  groups: { pattern: string; owners: string; files: string; isApproved: boolean }[];
  faults: { line: string | null; text: string; words: string }[];
}

const faultWords: Readonly<Record<OwnersFault['kind'], string>> = {
  pattern: 'this pattern cannot be read',
  section: 'sections are not supported',
  owner: 'owners are named with an @, or by an e-mail address',
  unknown_owner: 'no person who may see this repository has this name',
  may_not_write: 'none of its owners may write here, so no approval counts',
  too_many: 'there are too many; what follows is left out',
  too_large: 'the file is too large to be read',
};

/** Null where the base branch has no file of owners, or it is about other files and without faults. */
export function viewCodeOwners(box: MergeBox, repositoryUrl: string, baseBranch: string): CodeOwnersView | null {
  const { file, groups, faults } = box.owners;
  if (file === null || (groups.length === 0 && faults.length === 0)) return null;
  const { approvedBy } = box.verdict;
  return {
    file: { name: file, url: codeUrl(repositoryUrl, 'blob', baseBranch, Buffer.from(file)) },
    groups: groups.map(({ pattern, owners, files, writerIds }) => ({
      pattern: viewName(pattern),
      owners: owners.map(viewName).join(', '),
      files: viewCount(files, 'file'),
      isApproved: writerIds.some((id) => approvedBy.includes(id)),
    })),
    faults: faults.map(({ line, text, kind }) => ({
      line: line === null ? null : `Line ${line}`,
      text: viewName(text),
      words: faultWords[kind],
    })),
  };
}
