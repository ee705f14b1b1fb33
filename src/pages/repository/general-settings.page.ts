import type { RefListing } from '../../git/index.ts';
import { oneOf, repositoryUrl } from '../../http/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { viewCount, viewNumber, viewSize } from '../app/format-numbers.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import type { RepositoryDeps } from './deps.ts';

interface SettingsForm {
  description: string;
  website: string;
  topics: string;
  default_branch: string;
  accept_gerrit_refs: boolean;
  lfs: boolean;
  template: boolean;
}

/** A longer drop-down is not readable; users then type the name. */
const maxChoices = 200;

function formOf(
  { found: { repository } }: RepositoryPersonContext,
  lfs: boolean,
  topics: readonly string[],
): SettingsForm {
  const { description, website, defaultBranch, acceptsGerritRefs, isTemplate } = repository;
  return {
    description,
    website,
    topics: topics.join(', '),
    default_branch: defaultBranch,
    accept_gerrit_refs: acceptsGerritRefs,
    lfs,
    template: isTemplate,
  };
}

/** Numbers of objects that become visible together with the repository. */
function viewContents(refs: RefListing) {
  return {
    branches: viewCount(refs.count('refs/heads/'), 'branch'),
    tags: viewCount(refs.count('refs/tags/'), 'tag'),
  };
}

/** The first page of the settings; it also shows the error of a refused image (SPEC §7). */
export async function settingsPage(
  context: RepositoryPersonContext,
  { config, git, lfs, repositories }: RepositoryDeps,
  { form: typed, refusal = null }: { form?: SettingsForm; refusal?: FormRefusal | null } = {},
): Promise<PageReply> {
  const { found, query, viewer } = context;
  const { owner, name } = found.canonical;
  const { id } = found.repository;
  const [usage, refs, { forks, privateForks }, topics] = await Promise.all([
    lfs.usage(found.repository.id),
    git.queries.cachedRefs(found.path),
    repositories.forks.countAll(viewer, owner, name),
    repositories.topics.of([id]),
  ]);
  const form = typed ?? formOf(context, usage.isEnabled, topics.get(id) ?? []);
  const names = refs.page('refs/heads/', 0, maxChoices + 1).map((branch) => branch.name);
  return page('repository/general-settings', {
    repository: viewRepositoryHeader(found),
    section: 'general',
    hasImage: found.repository.imageContentType !== null,
    branches: names.length > 0 && names.length <= maxChoices ? names : null,
    forks: {
      open: forks > privateForks ? viewNumber(forks - privateForks) : null,
      hidden: privateForks > 0 ? viewNumber(privateForks) : null,
    },
    contents: viewContents(refs),
    lfs: config.lfs.enabled && {
      used: usage.objects === 0 ? null : `${viewCount(usage.objects, 'object')}, ${viewSize(usage.bytes)}`,
      quota: viewSize(config.lfs.repositoryQuotaBytes),
    },
    form,
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** For the owner only; all other viewers get 404 (SPEC §4.3). */
export const showRepositorySettings: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps) =>
  settingsPage(context, deps);

/**
 * Fields `description`, `website`, `topics`, `default_branch`, and the checkboxes `accept_gerrit_refs`, `lfs` and
 * `template`.
 */
export const saveRepositorySettings: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps) => {
  const {
    viewer,
    found: { canonical },
    form,
  } = context;
  const input: SettingsForm = {
    description: form.text('description'),
    website: form.text('website'),
    topics: form.text('topics'),
    default_branch: form.text('default_branch').trim(),
    accept_gerrit_refs: form.text('accept_gerrit_refs') !== '',
    lfs: form.text('lfs') !== '',
    template: form.text('template') !== '',
  };
  return submitForm(
    async () => {
      const topics = input.topics.split(/[\s,]+/).filter((topic) => topic !== '');
      // An older form without the field leaves it unchanged.
      if (form.all('topics').length > 0)
        await deps.repositories.topics.set(viewer, canonical.owner, canonical.name, topics);
      await deps.repositories.edit(viewer, canonical.owner, canonical.name, {
        description: input.description,
        ...(form.all('website').length > 0 && { website: input.website }),
        defaultBranch: input.default_branch,
        acceptsGerritRefs: input.accept_gerrit_refs,
        isTemplate: input.template,
      });
      // Browsers do not send an unchecked checkbox; a form without the choice changes nothing.
      if (form.text('lfs_choice') !== '') await deps.lfs.switchRepository(viewer, canonical, input.lfs);
      return seeOther(withFlashMessage(`${repositoryUrl(canonical)}/settings`, 'settings-saved'));
    },
    (refusal) => settingsPage(context, deps, { form: input, refusal }),
  );
};

/** Field `visibility`, PUBLIC or PRIVATE; any other value makes it private, the safe choice. */
export const changeVisibility: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps) => {
  const {
    viewer,
    found: { canonical },
    form,
  } = context;
  const visibility = oneOf(['PRIVATE', 'PUBLIC'], form.text('visibility').trim().toUpperCase());
  return submitForm(
    async () => {
      await deps.repositories.changeVisibility(viewer, canonical.owner, canonical.name, visibility);
      return seeOther(
        withFlashMessage(
          `${repositoryUrl(canonical)}/settings`,
          visibility === 'PUBLIC' ? 'now-public' : 'now-private',
        ),
      );
    },
    (refusal) => settingsPage(context, deps, { refusal }),
  );
};
