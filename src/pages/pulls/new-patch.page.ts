import { repositoryUrl } from '../../http/index.ts';
import { pullLimits } from '../../pulls/index.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { keepText } from '../issues/issue-comment.page.ts';
import { issueUrl } from '../issues/issue-urls.ts';
import type { PullsDeps } from './deps.ts';
import { invalid } from '../../kernel/index.ts';
import { refusedPage } from './new-pull.page.ts';

/** The values in the form. */
interface PatchValues {
  base: string;
  /** The number of the pull request that gets another round; empty for a new one. */
  pull: string;
  title: string;
  body: string;
  patch: string;
}

/** Query: `base`, and `pull` for the next round of a pull request. Anonymous clients sign in first. */
export const showNewPatch: Page<RepositoryContext, PullsDeps> = async (context, deps) => {
  const { query, found } = context;
  const refused = await refusedPage(context, deps);
  if (refused !== null) return refused;
  return formPage(context, {
    base: query.get('base')?.trim() || found.repository.defaultBranch,
    pull: query.get('pull')?.trim() ?? '',
    title: '',
    body: '',
    patch: '',
  });
};

/** Fields `base`, `pull`, `title`, `body`, `patch`, the file `files`, and `action` (`open`, `draft`). */
export const openPatch: Page<RepositoryContext, PullsDeps> = (context, deps) => {
  const { viewer, form, found } = context;
  const values: PatchValues = {
    base: form.text('base').trim(),
    pull: form.text('pull').trim().replace(/^#/, ''),
    title: form.text('title'),
    body: form.text('body'),
    patch: form.text('patch'),
  };
  return submitForm(
    async () => {
      const files = context.takeContents();
      if (values.pull !== '' && !/^\d{1,9}$/.test(values.pull))
        throw invalid('bad_pull_number', 'Enter the pull request number.', { field: 'pull' });
      if (files.length > 1) throw invalid('too_many_files', 'Choose one file.', { field: 'files' });
      const [file] = files;
      if (file !== undefined && values.patch.trim() !== '')
        throw invalid('two_patches', 'Paste a patch or choose a file, not both.', { field: 'files' });
      const { base, title, body, pull } = values;
      const { number } = await deps.pulls
        .proposePatch(viewer, found.canonical, {
          base,
          title,
          body,
          patch: file?.content ?? Buffer.from(values.patch),
          isDraft: form.text('action') === 'draft',
          pull: pull === '' ? undefined : Number(pull),
        })
        .catch(keepText);
      return seeOther(issueUrl(repositoryUrl(found.canonical), number, 'PULL'));
    },
    (refusal) => formPage(context, values, refusal),
  );
};

const formPage = ({ found }: RepositoryContext, form: PatchValues, refusal: FormRefusal | null = null): PageReply =>
  page('pulls/new-patch', {
    repository: viewRepositoryHeader(found),
    form,
    most: `${pullLimits.proposedPatchBytes / 1024 ** 2} MiB`,
    refusal,
  });
