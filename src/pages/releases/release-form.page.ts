import type { DescribedRelease } from '../../releases/index.ts';
import { releaseLimits } from '../../releases/index.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewName } from '../app/printable-names.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { newestVersions } from '../code/newest-versions.ts';
import { renderText } from '../markdown/render-text.ts';
import type { ReleasesDeps } from './deps.ts';
import { viewFile } from './release.view.ts';
import { deletionUrl, editUrl, releasesUrl, releaseUrl, restOf } from './release-urls.ts';

/** The submitted values of the form. */
interface Values {
  tag: string;
  target: string;
  tagMessage: string;
  title: string;
  body: string;
  isPrerelease: boolean;
  staysBehind: boolean;
  previous: string;
  revision: string;
}

/** Fields of the use-cases that have other names in the form. */
const fieldNames = { name: 'tag', from: 'target', message: 'tag_message' };

const readValues = ({ form }: RepositoryPersonContext): Values => ({
  tag: form.text('tag').trim(),
  target: form.text('target').trim(),
  tagMessage: form.text('tag_message'),
  title: form.text('title').trim(),
  body: form.text('body').replaceAll('\r\n', '\n'),
  isPrerelease: form.text('is_prerelease') !== '',
  staysBehind: form.text('stays_behind') !== '',
  previous: form.text('previous').trim(),
  revision: form.text('revision'),
});

const valuesOf = (release: DescribedRelease): Values => ({
  tag: release.tag,
  target: release.target,
  tagMessage: release.tagMessage,
  title: release.title,
  body: release.body,
  isPrerelease: release.isPrerelease,
  staysBehind: release.staysBehind,
  previous: '',
  revision: String(release.revision),
});

interface Shown {
  release: DescribedRelease | null;
  values: Values;
  isPreview?: boolean;
  refusal?: FormRefusal | null;
}

/** Maximum number of tags that the form suggests. */
const maxProposed = 100;

async function formPage(
  context: RepositoryPersonContext,
  deps: ReleasesDeps,
  { release, values, isPreview = false, refusal = null }: Shown,
): Promise<PageReply> {
  const { found, query } = context;
  const at = found.canonical;
  const [refs, { rows }] = await Promise.all([
    deps.git.queries.cachedRefs(found.path),
    deps.releases.listByPage(context.viewer, at, { page: 1, limit: maxProposed }),
  ]);
  // The first list omits tags that have a release.
  const sorted = await newestVersions(refs, 2 * maxProposed);
  const released = new Set(rows.map(({ tag }) => tag));
  return page('releases/release-form', {
    repository: viewRepositoryHeader(found),
    action: release === null ? `${releasesUrl(at)}/new` : editUrl(at, release.tag),
    back: release === null ? releasesUrl(at) : releaseUrl(at, release.tag),
    release: release && {
      tag: release.tag,
      shown: viewName(release.tag),
      isDraft: release.isDraft,
      isPublished: !release.isDraft,
      files: release.files.map((file) => viewFile(file, at, release.tag)),
      removal: `${releasesUrl(at)}/remove-file/${editUrl(at, release.tag).split('/releases/edit/')[1]}`,
      deletion: deletionUrl(at, release.tag),
    },
    /** Whether the tag already exists: then the form does not ask for its target. */
    isTagThere: release !== null && refs.has(`refs/tags/${release.tag}`),
    tags: sorted.filter((name) => !released.has(name)).slice(0, maxProposed),
    branches: refs.page('refs/heads/', 0, maxProposed).map(({ name }) => name),
    previousTags: sorted.slice(0, maxProposed),
    form: values,
    preview: isPreview ? await renderText(context, deps, values.body) : null,
    maxFiles: releaseLimits.filesPerRelease,
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** `B/releases/new`. Query: `tag`, `target`, `title` and `body` fill the form. */
export const showNewRelease: Page<RepositoryPersonContext, ReleasesDeps> = (context, deps) => {
  const { query, found } = context;
  const given = (name: string): string => (query.get(name) ?? '').slice(0, 1_000);
  const values = {
    tag: given('tag'),
    target: given('target') || found.repository.defaultBranch,
    tagMessage: '',
    title: given('title'),
    body: given('body'),
    isPrerelease: false,
    staysBehind: false,
    previous: '',
    revision: '',
  };
  return formPage(context, deps, { release: null, values });
};

/**
 * Fields `tag`, `target`, `tag_message`, `title`, `body`, `is_prerelease`, `stays_behind`, `files`, `previous`, and
 * `action`: `publish`, `draft`, `generate` writes the notes, `preview` shows them.
 */
export const createRelease: Page<RepositoryPersonContext, ReleasesDeps> = (context, deps) => {
  const { viewer, found, form } = context;
  const at = found.canonical;
  const values = readValues(context);
  const again = (more: Partial<Shown> = {}): Promise<PageReply> =>
    formPage(context, deps, { release: null, values, ...more });
  return submitForm(
    async () => {
      const shown = await beside(context, deps, values, again);
      if (shown !== null) return shown;
      const isDraft = form.text('action') === 'draft';
      const { tag } = await deps.releases.create(viewer, at, {
        ...values,
        isDraft,
        files: context.takeReleaseFiles(),
      });
      return seeOther(withFlashMessage(releaseUrl(at, tag), isDraft ? 'release-drafted' : 'release-published'));
    },
    (refusal) => again({ refusal }),
    fieldNames,
  );
};

/** The buttons that save nothing: the form again, with generated or rendered notes. Null for other buttons. */
async function beside(
  { viewer, found, form }: RepositoryPersonContext,
  { releases }: ReleasesDeps,
  values: Values,
  again: (more?: Partial<Shown>) => Promise<PageReply>,
): Promise<PageReply | null> {
  if (form.text('action') === 'preview') return again({ isPreview: true });
  if (form.text('action') !== 'generate') return null;
  const { tag, target, previous } = values;
  const notes = await releases.generateNotes(viewer, found.canonical, { tag, target, previous });
  const body = values.body.trim() === '' ? notes.body : `${values.body.trimEnd()}\n\n${notes.body}`;
  return again({ values: { ...values, body } });
}

/** `B/releases/edit/{tag}` */
export const showEditRelease: Page<RepositoryPersonContext, ReleasesDeps> = async (context, deps) => {
  const release = await deps.releases.find(context.viewer, context.found.canonical, { tag: restOf(context) });
  return formPage(context, deps, { release, values: valuesOf(release) });
};

/** The same fields, and `revision`; `action` can also be `save`, and `draft` turns a release back into a draft. */
export const editRelease: Page<RepositoryPersonContext, ReleasesDeps> = async (context, deps): Promise<Reply> => {
  const { viewer, found, form } = context;
  const at = found.canonical;
  const key = { tag: restOf(context) };
  const release = await deps.releases.find(viewer, at, key);
  const given = readValues(context);
  // The form of a published release has no fields for its tag.
  const values = release.isDraft ? given : { ...given, tag: release.tag, target: release.target };
  const again = (more: Partial<Shown> = {}): Promise<PageReply> =>
    formPage(context, deps, { release, values, ...more });
  return submitForm(
    async () => {
      const shown = await beside(context, deps, values, again);
      if (shown !== null) return shown;
      const { tag, target, tagMessage, title, body, isPrerelease, staysBehind, revision } = values;
      const action = form.text('action');
      const isDraft = action === 'draft' || (action !== 'publish' && release.isDraft);
      const saved = await deps.releases.edit(viewer, at, key, {
        ...(release.isDraft ? { tag, target, tagMessage } : {}),
        title,
        body,
        isPrerelease,
        staysBehind,
        isDraft,
        revision: /^\d{1,15}$/.test(revision) ? Number(revision) : null,
        files: context.takeReleaseFiles(),
      });
      const notice = isDraft ? 'release-drafted' : release.isDraft ? 'release-published' : 'release-saved';
      return seeOther(withFlashMessage(releaseUrl(at, saved.tag), notice));
    },
    (refusal) => again({ refusal }),
    fieldNames,
  );
};

/** `B/releases/remove-file/{tag}`: field `file`, its id. */
export const removeReleaseFile: Page<RepositoryPersonContext, ReleasesDeps> = async (context, { releases }) => {
  const { viewer, found, form } = context;
  const tag = restOf(context);
  await releases.files.remove(viewer, found.canonical, { tag }, { id: form.text('file') });
  return seeOther(withFlashMessage(editUrl(found.canonical, tag), 'release-file-removed'));
};
