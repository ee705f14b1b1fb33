import { hash } from 'node:crypto';
import { homeTitle, pageCalled, pageNotFound } from '../../repositories/index.ts';
import type { WikiPage } from '../../repositories/index.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { Page, RepositoryContext, RepositoryPersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { wikiPageUrl, wikiUrl } from '../app/wiki-urls.ts';
import type { WikiDeps } from './deps.ts';
import { findWikiOf, readPageText, renderWikiTexts } from './read-wiki.ts';
import { titleIn, viewWikiFrame } from './wiki-page.page.ts';

interface PageForm {
  title: string;
  text: string;
  message: string;
  /** The blob that the user started from; '' for a new page. */
  blob: string;
}

interface FormState {
  form: PageForm;
  refusal?: FormRefusal | null;
  isPreview?: boolean;
}

async function formPage(
  context: RepositoryContext,
  deps: WikiDeps,
  known: WikiPage | null,
  { form, refusal = null, isPreview = false }: FormState,
): Promise<PageReply> {
  const wiki = await findWikiOf(context, deps);
  const pages = await deps.repositories.wikis.pages(wiki);
  const url = wikiUrl(context.found.canonical);
  const isChanged = known !== null && form.blob !== '' && known.oid !== form.blob;
  const text = { key: `text ${hash('sha256', form.text)}`, file: known?.path ?? 'page.md', text: form.text };
  const address = known === null ? null : wikiPageUrl(context.found.canonical, known.title);
  return page('wiki/edit-wiki-page', {
    ...viewWikiFrame(context, deps, pages),
    isNew: known === null,
    form: isChanged ? { ...form, blob: known.oid } : form,
    /** The current text, if it differs from the one that the user started from. */
    theirs: isChanged ? await readPageText(deps, wiki, known) : null,
    preview: isPreview ? (await renderWikiTexts(context, deps, wiki, [text]))[0] : null,
    refusal,
    urls: {
      form: address === null ? `${url}/_new` : `${url}/_edit${address.slice(url.length)}`,
      cancel: address ?? url,
      remove: address === null ? null : `${url}/_delete${address.slice(url.length)}`,
    },
  });
}

/** `B/wiki/_new?title=`: the form of a new page. */
export const showNewWikiPage: Page<RepositoryPersonContext, WikiDeps> = async (context, deps) => {
  const wiki = await findWikiOf(context, deps);
  const title = context.query.get('title') ?? (wiki.tip === null ? homeTitle : '');
  return formPage(context, deps, null, { form: { title: title.slice(0, 200), text: '', message: '', blob: '' } });
};

async function knownPage(context: RepositoryContext, deps: WikiDeps): Promise<WikiPage> {
  const wiki = await findWikiOf(context, deps);
  const found = pageCalled(await deps.repositories.wikis.pages(wiki), titleIn(context));
  if (found === null) throw pageNotFound();
  return found;
}

/** `B/wiki/_edit/{title}`. Throws `page_not_found`. */
export const showEditWikiPage: Page<RepositoryPersonContext, WikiDeps> = async (context, deps) => {
  const wiki = await findWikiOf(context, deps);
  const known = await knownPage(context, deps);
  const text = await readPageText(deps, wiki, known);
  return formPage(context, deps, known, { form: { title: known.title, text, message: '', blob: known.oid } });
};

const readForm = ({ form }: RepositoryPersonContext): PageForm => ({
  title: form.text('title'),
  text: form.text('text'),
  message: form.text('message').replaceAll(/\s+/g, ' ').trim(),
  blob: form.text('blob'),
});

const bytesOf = (text: string): Buffer => Buffer.from(text === '' || text.endsWith('\n') ? text : `${text}\n`);

/** Fields `title`, `text`, `message`, and `action`: `preview` renders the text. */
export const createWikiPage: Page<RepositoryPersonContext, WikiDeps> = (context, deps) => {
  const { viewer, found, form: sent } = context;
  const at = found.canonical;
  const form = readForm(context);
  if (sent.text('action') === 'preview') return formPage(context, deps, null, { form, isPreview: true });
  return submitForm(
    async () => {
      const { title } = await deps.repositories.wikis.create(viewer, at.owner, at.name, {
        title: form.title,
        content: bytesOf(form.text),
        message: form.message,
      });
      return seeOther(withFlashMessage(wikiPageUrl(at, title), 'wiki-saved'));
    },
    (refusal) => formPage(context, deps, null, { form, refusal }),
  );
};

/** The same for an existing page, with the field `blob`, the version that the user started from. */
export const saveWikiPage: Page<RepositoryPersonContext, WikiDeps> = async (context, deps) => {
  const { viewer, found, form: sent } = context;
  const at = found.canonical;
  const known = await knownPage(context, deps);
  const form = readForm(context);
  if (sent.text('action') === 'preview') return formPage(context, deps, known, { form, isPreview: true });
  return submitForm(
    async () => {
      const { title } = await deps.repositories.wikis.edit(viewer, at.owner, at.name, known.title, {
        title: form.title,
        content: bytesOf(form.text),
        message: form.message,
        ...(form.blob !== '' && { expected: form.blob }),
      });
      return seeOther(withFlashMessage(wikiPageUrl(at, title), 'wiki-saved'));
    },
    (refusal) => formPage(context, deps, known, { form, refusal }),
  );
};

/** Deletes a page. Field `blob`. */
export const deleteWikiPage: Page<RepositoryPersonContext, WikiDeps> = async (context, deps) => {
  const { viewer, found, form: sent } = context;
  const { owner, name } = found.canonical;
  const known = await knownPage(context, deps);
  const blob = sent.text('blob');
  return submitForm(
    async () => {
      await deps.repositories.wikis.remove(viewer, owner, name, known.title, {
        ...(blob !== '' && { expected: blob }),
      });
      return seeOther(withFlashMessage(`${wikiUrl(found.canonical)}`, 'wiki-deleted'));
    },
    async (refusal) => {
      const text = await readPageText(deps, await findWikiOf(context, deps), known);
      return formPage(context, deps, known, {
        form: { title: known.title, text, message: '', blob: known.oid },
        refusal,
      });
    },
  );
};
