import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import type { WebDeps } from '../../http/index.ts';
import { submit } from '../app/submit.ts';
import type { FormRefusal } from '../app/submit.ts';
import { viewRunner } from './runner.view.ts';
import { numberedPage } from '../app/numbered-page.view.ts';
import { viewNotice, withNotice } from '../app/notices.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { ScopePageOf } from './scopes.ts';
import { pathNumber } from '../../http/index.ts';

/** The pages about the runners of one kind of place. */
export interface RunnerPages<V extends PersonContext> {
  show: Page<V>;
  /** Makes a new registration token; the one before stops working. Leads to the page that shows it once. */
  resetToken: Page<V>;
  showToken: Page<V>;
  /** Fields `name`, `ephemeral`. Leads to the page that shows its configuration once. */
  add: Page<V>;
  showNew: Page<V>;
  pause: Page<V>;
  resume: Page<V>;
  remove: Page<V>;
}

export function runnerPages<V extends PersonContext>(placeOf: ScopePageOf<V>): RunnerPages<V> {
  const list = (visit: V): string => `${placeOf(visit).url}/runners`;

  async function runnersPage(visit: V, { ci, clock }: WebDeps, refusal: FormRefusal | null): Promise<PageReply> {
    const place = placeOf(visit);
    const [{ rows: runners, ...beside }, madeAt] = await Promise.all([
      numberedPage((paging) => ci.listRunners(place.scope, paging), visit.query, list(visit)),
      ci.registrationTokenMadeAt(place.scope),
    ]);
    return page('runs/runners', {
      place,
      runners: runners.map((runner) => viewRunner(runner, clock.now())),
      ...beside,
      hasToken: madeAt !== null,
      form: { name: visit.form.text('name') },
      refusal,
      notice: viewNotice(visit.query),
    });
  }

  const switchTo =
    (isDisabled: boolean, notice: string): Page<V> =>
    async (visit, { ci }): Promise<Reply> => {
      await ci.setRunnerDisabled(placeOf(visit).scope, pathNumber(visit.params.id), isDisabled);
      return seeOther(withNotice(list(visit), notice));
    };

  return {
    show: (visit, deps) => runnersPage(visit, deps, null),

    resetToken: async (visit, { ci, oneTimeSecrets }) => {
      const { scope } = placeOf(visit);
      const token = await ci.resetRegistrationToken(scope, visit.person.id);
      return seeOther(
        `${list(visit)}/token/${oneTimeSecrets.keep(visit.person.id, { name: 'registration', value: token })}`,
      );
    },
    showToken: (visit, { oneTimeSecrets }) => {
      const secret = oneTimeSecrets.take(visit.person.id, visit.params.ticket ?? '');
      if (secret === null) return seeOther(withNotice(list(visit), 'runner-token-gone'));
      return page(
        'runs/runner-token',
        { place: placeOf(visit), token: secret.value, origin: visit.origin },
        { showsSecret: true },
      );
    },

    add: (visit, deps) =>
      submit(
        async () => {
          const { form, person } = visit;
          const { scope } = placeOf(visit);
          const { runner, token } = await deps.ci.createRunner(scope, {
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
          return seeOther(`${list(visit)}/new/${deps.oneTimeSecrets.keep(person.id, { name: 'runner', value })}`);
        },
        (refusal) => runnersPage(visit, deps, refusal),
      ),
    showNew: (visit, { oneTimeSecrets }) => {
      const secret = oneTimeSecrets.take(visit.person.id, visit.params.ticket ?? '');
      if (secret === null) return seeOther(withNotice(list(visit), 'runner-token-gone'));
      const runner = JSON.parse(secret.value) as {
        id: number;
        uuid: string;
        name: string;
        ephemeral: boolean;
        token: string;
      };
      return page('runs/new-runner', { place: placeOf(visit), runner, origin: visit.origin }, { showsSecret: true });
    },

    pause: switchTo(true, 'runner-paused'),
    resume: switchTo(false, 'runner-resumed'),
    remove: async (visit, { ci }) => {
      await ci.removeRunner(placeOf(visit).scope, pathNumber(visit.params.id));
      return seeOther(withNotice(list(visit), 'runner-removed'));
    },
  };
}
