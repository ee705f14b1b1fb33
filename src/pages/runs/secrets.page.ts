import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import type { WebDeps } from '../../http/index.ts';
import { submit } from '../app/submit.ts';
import type { FormRefusal } from '../app/submit.ts';
import { viewNotice, withNotice } from '../app/notices.view.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { ScopePageOf } from './scopes.ts';

/** The pages about the secrets and variables of one kind of place. */
export interface SecretPages<V extends PersonContext> {
  show: Page<V>;
  /** Fields `name`, `value`. A secret is never shown again. */
  setSecret: Page<V>;
  removeSecret: Page<V>;
  /** Fields `name`, `value`. */
  setVariable: Page<V>;
  removeVariable: Page<V>;
}

export function secretPages<V extends PersonContext>(placeOf: ScopePageOf<V>): SecretPages<V> {
  const list = (visit: V): string => `${placeOf(visit).url}/secrets`;

  async function secretsPage(
    visit: V,
    { ci, clock }: WebDeps,
    kind: 'secret' | 'variable',
    refusal: FormRefusal | null,
  ): Promise<PageReply> {
    const place = placeOf(visit);
    const [secrets, variables] = await Promise.all([ci.listSecrets(place.scope), ci.listVariables(place.scope)]);
    const typed = { name: visit.form.text('name'), value: visit.form.text('value') };
    return page('runs/secrets', {
      place,
      secrets: secrets.map(({ name, updatedAt }) => ({ name, updated: viewTime(updatedAt, clock.now()) })),
      variables: variables.map(({ name, value, updatedAt }) => ({
        name,
        value,
        updated: viewTime(updatedAt, clock.now()),
      })),
      // What was typed as a secret does not travel back into a page.
      secretForm: { name: kind === 'secret' ? typed.name : '' },
      variableForm: kind === 'variable' ? typed : { name: '', value: '' },
      secretRefusal: kind === 'secret' ? refusal : null,
      variableRefusal: kind === 'variable' ? refusal : null,
      notice: viewNotice(visit.query),
    });
  }

  const save =
    (kind: 'secret' | 'variable', work: (visit: V, deps: WebDeps) => Promise<unknown>): Page<V> =>
    (visit, deps): Promise<Reply> =>
      submit(
        async () => {
          await work(visit, deps);
          return seeOther(withNotice(list(visit), `${kind}-saved`));
        },
        (refusal) => secretsPage(visit, deps, kind, refusal),
      );

  const input = ({ form }: V) => ({ name: form.text('name'), value: form.text('value') });

  return {
    show: (visit, deps) => secretsPage(visit, deps, 'secret', null),
    setSecret: save('secret', (visit, { ci }) => ci.setSecret(placeOf(visit).scope, input(visit))),
    setVariable: save('variable', (visit, { ci }) => ci.setVariable(placeOf(visit).scope, input(visit))),
    removeSecret: async (visit, { ci }) => {
      await ci.removeSecret(placeOf(visit).scope, visit.params.secret ?? '');
      return seeOther(withNotice(list(visit), 'secret-removed'));
    },
    removeVariable: async (visit, { ci }) => {
      await ci.removeVariable(placeOf(visit).scope, visit.params.variable ?? '');
      return seeOther(withNotice(list(visit), 'variable-removed'));
    },
  };
}
