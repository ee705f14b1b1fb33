import type { MergeBox, OwnersFault } from '../../pulls/index.ts';
import { t, translated } from '../../translation/index.ts';
import { codeUrl } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { viewCount } from '../app/format-numbers.ts';

/** The owners of the changed files, and the lines of the CODEOWNERS file that have no effect. */
interface CodeOwnersView {
  file: { name: string; url: string };
  groups: { pattern: string; owners: string; files: string; isApproved: boolean }[];
  faults: { line: string | null; text: string; words: string }[];
}

const faultWords: Readonly<Record<OwnersFault['kind'], string>> = translated({
  pattern: 'pulls.code_owners.this_pattern_cannot_be_read',
  section: 'pulls.code_owners.sections_are_not_supported',
  owner: 'pulls.code_owners.owners_are_named_with_an_or',
  unknown_owner: 'pulls.code_owners.no_user_with_access_to_this',
  may_not_write: 'pulls.code_owners.none_of_its_owners_can_write',
  too_many: 'pulls.code_owners.there_are_too_many_the_rest',
  too_large: 'pulls.code_owners.the_file_is_too_large_to',
});

/** Null if the base branch has no CODEOWNERS file, or it matches none of the files and has no errors. */
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
      line: line === null ? null : t('pulls.code_owners.line_line', { line }),
      text: viewName(text),
      words: faultWords[kind],
    })),
  };
}
