import type { Application, ApplicationInput, ApplicationOwner } from '../../oauth/index.ts';
import { notFound } from '../../kernel/index.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewTime } from '../app/times.view.ts';
import type { ScopePageOf } from '../runs/scopes.ts';
import type { OAuthPageDeps } from './deps.ts';

/** The pages about the applications of one kind of owner. */
export interface ApplicationPages<V extends PersonContext> {
  list: Page<V, OAuthPageDeps>;
  /** Fields `name`, `redirect_uris` (one per line), `confidential`. */
  add: Page<V, OAuthPageDeps>;
  show: Page<V, OAuthPageDeps>;
  /** The same fields. */
  edit: Page<V, OAuthPageDeps>;
  replaceSecret: Page<V, OAuthPageDeps>;
  showSecret: Page<V, OAuthPageDeps>;
  remove: Page<V, OAuthPageDeps>;
}

interface ApplicationForm {
  name: string;
  redirect_uris: string;
  confidential: boolean;
}

const emptyForm: ApplicationForm = { name: '', redirect_uris: '', confidential: true };

const readForm = ({ form }: PersonContext): ApplicationForm => ({
  name: form.text('name'),
  redirect_uris: form.text('redirect_uris'),
  confidential: form.text('confidential') !== 'no',
});

const inputOf = (form: ApplicationForm): ApplicationInput => ({
  name: form.name,
  redirectUris: form.redirect_uris.split(/[\r\n]+/),
  isConfidential: form.confidential,
});

const viewApplication = (application: Application, url: string) => ({
  url: `${url}/${application.id}`,
  name: application.name,
  clientId: application.clientId,
  isConfidential: application.isConfidential,
  secretEnding: application.secretEnding,
  redirectUris: application.redirectUris,
});

export function applicationPages<V extends PersonContext>(placeOf: ScopePageOf<V>): ApplicationPages<V> {
  const ownerOf = (context: V): ApplicationOwner => {
    const { scope } = placeOf(context);
    if (scope.kind === 'user' || scope.kind === 'organisation') return { kind: scope.kind, id: scope.id };
    return { kind: 'instance' };
  };
  const listUrl = (context: V): string => `${placeOf(context).url}/applications`;

  async function listPage(
    context: V,
    { oauth, clock, config }: OAuthPageDeps,
    form: ApplicationForm,
    refusal: FormRefusal | null,
  ): Promise<PageReply> {
    const owner = ownerOf(context);
    const [applications, grants] = await Promise.all([
      oauth.applications.list(owner),
      owner.kind === 'user' ? oauth.grants.list(owner.id) : [],
    ]);
    return page('oauth/applications', {
      place: placeOf(context),
      applications: applications.map((each) => viewApplication(each, listUrl(context))),
      grants: grants.map(({ id, application, scopes, createdAt }) => ({
        id,
        name: application.name,
        scopes: scopes.join(', '),
        since: viewTime(createdAt, clock.now()),
      })),
      url: listUrl(context),
      hasAddress: config.baseUrl !== null,
      form,
      refusal,
      notice: viewFlashMessage(context.query),
    });
  }

  async function applicationOf(context: V, { oauth }: OAuthPageDeps): Promise<Application> {
    const found = (await oauth.applications.list(ownerOf(context))).find(({ id }) => id === context.params['app']);
    if (found === undefined) throw notFound('unknown_application', 'There is no such application.');
    return found;
  }

  async function applicationPage(
    context: V,
    deps: OAuthPageDeps,
    form: ApplicationForm | null,
    refusal: FormRefusal | null,
  ): Promise<PageReply> {
    const application = await applicationOf(context, deps);
    return page('oauth/application', {
      place: placeOf(context),
      application: viewApplication(application, listUrl(context)),
      url: listUrl(context),
      form: form ?? {
        name: application.name,
        redirect_uris: application.redirectUris.join('\n'),
        confidential: application.isConfidential,
      },
      refusal,
      notice: viewFlashMessage(context.query),
    });
  }

  /** Redirects to the page that shows a secret once; without a secret, to the application. */
  async function leadToSecret(
    context: V,
    deps: OAuthPageDeps,
    application: Application,
    secret: string | null,
  ): Promise<Reply> {
    const to = `${listUrl(context)}/${application.id}`;
    if (secret === null) return seeOther(withFlashMessage(to, 'application-saved'));
    const value = { name: application.name, value: secret };
    return seeOther(`${to}/secret/${await deps.oneTimeSecrets.store(context.person.id, value)}`);
  }

  return {
    list: (context, deps) => listPage(context, deps, emptyForm, null),
    add(context, deps) {
      const form = readForm(context);
      return submitForm(
        async () => {
          const { application, secret } = await deps.oauth.applications.add(ownerOf(context), inputOf(form));
          return leadToSecret(context, deps, application, secret);
        },
        (refusal) => listPage(context, deps, form, refusal),
      );
    },
    show: (context, deps) => applicationPage(context, deps, null, null),
    edit(context, deps) {
      const form = readForm(context);
      return submitForm(
        async () => {
          const { id } = await applicationOf(context, deps);
          const { application, secret } = await deps.oauth.applications.change(ownerOf(context), id, inputOf(form));
          return leadToSecret(context, deps, application, secret);
        },
        (refusal) => applicationPage(context, deps, form, refusal),
      );
    },
    async replaceSecret(context, deps) {
      const application = await applicationOf(context, deps);
      const secret = await deps.oauth.applications.replaceSecret(ownerOf(context), application.id);
      return leadToSecret(context, deps, application, secret);
    },
    async showSecret(context, deps) {
      const application = await applicationOf(context, deps);
      const secret = await deps.oneTimeSecrets.take(context.person.id, context.params['oneTimeToken'] ?? '');
      const url = `${listUrl(context)}/${application.id}`;
      if (secret === null) return seeOther(withFlashMessage(url, 'application-secret-gone'));
      return page(
        'oauth/application-secret',
        { place: placeOf(context), name: application.name, clientId: application.clientId, secret: secret.value, url },
        { showsSecret: true },
      );
    },
    async remove(context, deps) {
      const { id } = await applicationOf(context, deps);
      await deps.oauth.applications.remove(ownerOf(context), id);
      return seeOther(withFlashMessage(listUrl(context), 'application-removed'));
    },
  };
}

/** Revokes the consent of a user to an application. */
export const revokeApplication: Page<PersonContext, OAuthPageDeps> = async ({ person, params }, { oauth }) => {
  await oauth.grants.revoke(person.id, params.grant ?? '');
  return seeOther(withFlashMessage('/settings/applications', 'application-revoked'));
};
