import { notFound } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { viewName } from '../app/printable-names.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { authorsOfCommits } from './commit-authors.ts';
import { viewCommitLine } from './commit-line.view.ts';
import type { CodeDeps } from './deps.ts';
import { tagsPage } from './tags.page.ts';

const tagsUrl = ({ found }: RepositoryPersonContext): string => `${repositoryUrl(found.canonical)}/tags`;

/** Fields `name`, `from` and `message`; a message creates an annotated tag. */
export const addTag: Page<RepositoryPersonContext, CodeDeps> = (context, deps) => {
  const { viewer, found, form } = context;
  const { owner, name } = found.canonical;
  const wanted = {
    name: form.text('name').trim(),
    from: form.text('from').trim(),
    message: form.text('message').replaceAll('\r\n', '\n'),
  };
  return submitForm(
    async () => {
      await deps.repositories.tags.create(viewer, owner, name, wanted);
      return seeOther(withFlashMessage(tagsUrl(context), 'tag-created'));
    },
    (refusal) => tagsPage(context, deps, { ...wanted, refusal }),
  );
};

/** `B/tags/delete?name=`: confirmation before a tag is deleted. */
export const confirmTagDeletion: Page<RepositoryPersonContext, CodeDeps> = (context, deps) =>
  deletionPage(context, deps, context.query.get('name') ?? '', null);

async function deletionPage(
  { found }: RepositoryPersonContext,
  deps: CodeDeps,
  name: string,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { git, config, clock, releases } = deps;
  const ref = `refs/tags/${name}`;
  const oid = await git.refs.tip(found.path, ref);
  if (oid === null) throw notFound('tag_gone', 'There is no such tag.');
  // A tag may point to a blob.
  const commit = await git.refs
    .resolve(found.path, ref)
    .then((id) => git.objects.commit(found.path, id))
    .catch(() => null);
  const authors = await authorsOfCommits(deps, commit === null ? [] : [commit]);
  const url = repositoryUrl(found.canonical);
  return page('code/delete-tag', {
    repository: viewRepositoryHeader(found),
    name,
    shown: viewName(name),
    oid,
    commit: commit && viewCommitLine(commit, url, clock.now(), authors),
    hasRelease: (await releases.releasedTags(found.repository.id, [name])).length > 0,
    keptDays: Math.round(config.repositories.undoKeepMs / 86_400_000),
    refusal,
  });
}

/** Fields `name`, and `expected`: the object that the page showed for it. */
export const removeTag: Page<RepositoryPersonContext, CodeDeps> = (context, deps) => {
  const { viewer, found, form } = context;
  const { owner, name } = found.canonical;
  const tag = form.text('name');
  return submitForm(
    async () => {
      await deps.repositories.tags.delete(viewer, owner, name, { name: tag, expected: form.text('expected') });
      return seeOther(withFlashMessage(tagsUrl(context), 'tag-deleted'));
    },
    (refusal) => deletionPage(context, deps, tag, refusal),
  );
};
