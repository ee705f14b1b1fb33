import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { submit } from '../app/submit.ts';
import type { FormRefusal } from '../app/submit.ts';
import { viewRunner } from './runner.view.ts';
import { numberedPage } from '../app/numbered-page.view.ts';
import { viewNotice, withNotice } from '../app/notices.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { ScopePageOf } from './scopes.ts';
import { runPathNumber } from '../../http/index.ts';
import type { RunsDeps } from './deps.ts';

/** The pages about the runners of one kind of place. */
export interface RunnerPages<V extends PersonContext> {
  show: Page<V, RunsDeps>;
  /** Makes a new registration token; the one before stops working. Leads to the page that shows it once. */
  resetToken: Page<V, RunsDeps>;
  showToken: Page<V, RunsDeps>;
  /** Fields `name`, `ephemeral`. Leads to the page that shows its configuration once. */
  add: Page<V, RunsDeps>;
  showNew: Page<V, RunsDeps>;
  pause: Page<V, RunsDeps>;
  resume: Page<V, RunsDeps>;
  /** Field `only`: `yes` leaves out code of people without write access. */
  setTrust: Page<V, RunsDeps>;
  remove: Page<V, RunsDeps>;
}

export function runnerPages<V extends PersonContext>(placeOf: ScopePageOf<V>): RunnerPages<V> {
  const list = (context: V): string => `${placeOf(context).url}/runners`;

  async function runnersPage(context: V, { ci, clock }: RunsDeps, refusal: FormRefusal | null): Promise<PageReply> {
    const place = placeOf(context);
    const [{ rows: runners, ...beside }, madeAt] = await Promise.all([
      numberedPage((paging) => ci.runners.list(place.scope, paging), context.query, list(context)),
      ci.runners.registrationTokenMadeAt(place.scope),
    ]);
    return page('runs/runners', {
      place,
      runners: runners.map((runner) => viewRunner(runner, clock.now())),
      ...beside,
      hasToken: madeAt !== null,
      form: { name: context.form.text('name') },
      refusal,
      notice: viewNotice(context.query),
    });
  }

  const switchTo =
    (isDisabled: boolean, notice: string): Page<V, RunsDeps> =>
    async (context, { ci }): Promise<Reply> => {
      await ci.runners.setDisabled(placeOf(context).scope, runPathNumber(context.params.id), isDisabled);
      return seeOther(withNotice(list(context), notice));
    };

  return {
    show: (context, deps) => runnersPage(context, deps, null),

    resetToken: async (context, { ci, oneTimeSecrets }) => {
      const { scope } = placeOf(context);
      const token = await ci.runners.resetRegistrationToken(scope, context.person.id);
      return seeOther(
        `${list(context)}/token/${oneTimeSecrets.store(context.person.id, { name: 'registration', value: token })}`,
      );
    },
    showToken: (context, { oneTimeSecrets }) => {
      const secret = oneTimeSecrets.take(context.person.id, context.params.oneTimeToken ?? '');
      if (secret === null) return seeOther(withNotice(list(context), 'runner-token-gone'));
      return page(
        'runs/runner-token',
        { place: placeOf(context), token: secret.value, origin: context.origin },
        { showsSecret: true },
      );
    },

    add: (context, deps) =>
      submit(
        async () => {
          const { form, person } = context;
          const { scope } = placeOf(context);
          const { runner, token } = await deps.ci.runners.create(scope, {
            name: form.text('name'),
            ephemeral: form.text('ephemeral') === 'yes',
          });
          const value = JSON.stringify({
            id: runner.id,
            uuid: runner.uuid,
            name: runner.name,
            ephemeral: runner.ephemeral,
            token,
          });
          return seeOther(`${list(context)}/new/${deps.oneTimeSecrets.store(person.id, { name: 'runner', value })}`);
        },
        (refusal) => runnersPage(context, deps, refusal),
      ),
    showNew: (context, { oneTimeSecrets }) => {
      const secret = oneTimeSecrets.take(context.person.id, context.params.oneTimeToken ?? '');
      if (secret === null) return seeOther(withNotice(list(context), 'runner-token-gone'));
      const runner = JSON.parse(secret.value) as {
        id: number;
        uuid: string;
        name: string;
        ephemeral: boolean;
        token: string;
      };
      return page(
        'runs/new-runner',
        { place: placeOf(context), runner, origin: context.origin },
        { showsSecret: true },
      );
    },

    pause: switchTo(true, 'runner-paused'),
    resume: switchTo(false, 'runner-resumed'),
    setTrust: async (context, { ci }) => {
      const only = context.form.text('only') === 'yes';
      await ci.runners.setTrustedOnly(placeOf(context).scope, runPathNumber(context.params.id), only);
      return seeOther(withNotice(list(context), only ? 'runner-trusted-only' : 'runner-any-code'));
    },
    remove: async (context, { ci }) => {
      await ci.runners.remove(placeOf(context).scope, runPathNumber(context.params.id));
      return seeOther(withNotice(list(context), 'runner-removed'));
    },
  };
}
