import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { ScopePageOf } from './scopes.ts';
import type { RunsDeps } from './deps.ts';

/** The pages for the secrets and variables of one kind of scope. */
interface SecretPages<V extends PersonContext> {
  show: Page<V, RunsDeps>;
  /** Fields `name`, `value`, and for the server `only_for`. A secret is never shown again. */
  setSecret: Page<V, RunsDeps>;
  removeSecret: Page<V, RunsDeps>;
  /** Fields `name`, `value`. */
  setVariable: Page<V, RunsDeps>;
  removeVariable: Page<V, RunsDeps>;
}

export function secretPages<V extends PersonContext>(placeOf: ScopePageOf<V>): SecretPages<V> {
  const list = (context: V): string => `${placeOf(context).url}/secrets`;

  async function secretsPage(
    context: V,
    { ci, clock }: RunsDeps,
    kind: 'secret' | 'variable',
    refusal: FormRefusal | null,
  ): Promise<PageReply> {
    const place = placeOf(context);
    const [secrets, variables] = await Promise.all([ci.secrets.list(place.scope), ci.variables.list(place.scope)]);
    const typed = { name: context.form.text('name'), value: context.form.text('value') };
    return page('runs/secrets', {
      place,
      secrets: secrets.map(({ name, updatedAt, onlyFor }) => ({
        name,
        onlyFor,
        updated: viewTime(updatedAt, clock.now()),
      })),
      variables: variables.map(({ name, value, updatedAt }) => ({
        name,
        value,
        updated: viewTime(updatedAt, clock.now()),
      })),
      // Submitted secrets are never sent back in a page.
      secretForm:
        kind === 'secret' ? { name: typed.name, onlyFor: context.form.text('only_for') } : { name: '', onlyFor: '' },
      variableForm: kind === 'variable' ? typed : { name: '', value: '' },
      secretRefusal: kind === 'secret' ? refusal : null,
      variableRefusal: kind === 'variable' ? refusal : null,
      notice: viewFlashMessage(context.query),
    });
  }

  const save =
    (kind: 'secret' | 'variable', work: (context: V, deps: RunsDeps) => Promise<unknown>): Page<V, RunsDeps> =>
    (context, deps): Promise<Reply> =>
      submitForm(
        async () => {
          await work(context, deps);
          return seeOther(withFlashMessage(list(context), `${kind}-saved`));
        },
        (refusal) => secretsPage(context, deps, kind, refusal),
      );

  const input = ({ form }: V) => ({ name: form.text('name'), value: form.text('value') });

  return {
    show: (context, deps) => secretsPage(context, deps, 'secret', null),
    setSecret: save('secret', (context, { ci }) => {
      const { scope, mayLimit } = placeOf(context);
      const onlyFor = context.form
        .text('only_for')
        .split(/[\s,]+/)
        .filter((name) => name !== '');
      return ci.secrets.set(scope, { ...input(context), ...(mayLimit ? { onlyFor } : {}) });
    }),
    setVariable: save('variable', (context, { ci }) => ci.variables.set(placeOf(context).scope, input(context))),
    removeSecret: async (context, { ci }) => {
      await ci.secrets.remove(placeOf(context).scope, context.params.secret ?? '');
      return seeOther(withFlashMessage(list(context), 'secret-removed'));
    },
    removeVariable: async (context, { ci }) => {
      await ci.variables.remove(placeOf(context).scope, context.params.variable ?? '');
      return seeOther(withFlashMessage(list(context), 'variable-removed'));
    },
  };
}
