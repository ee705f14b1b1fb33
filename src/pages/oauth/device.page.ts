import { translated } from '../../translation/index.ts';
import { page } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { askingOf } from './consent.page.ts';
import type { OAuthPageDeps } from './deps.ts';

const unknown = translated({
  message: 'oauth.device.this_code_is_unknown_expired_or',
  field: 'user_code',
});

async function devicePage(userCode: string, { consents }: OAuthPageDeps): Promise<PageReply> {
  const request = userCode === '' ? null : await consents.findDevice(userCode);
  const refusal = userCode !== '' && request === null ? unknown : null;
  return page(
    'oauth/device',
    {
      userCode,
      refusal,
      request: request === null ? null : { name: request.application.name, wants: request.wants },
      done: null,
    },
    { status: refusal === null ? 200 : 422, showsSecret: true },
  );
}

/** `/login/device`: the form for the code that a device shows (RFC 8628); `user_code` in the URL prefills it. */
export const showDevice: Page<PersonContext, OAuthPageDeps> = ({ query }, deps) =>
  devicePage(query.get('user_code') ?? '', deps);

/** Field `user_code`; `answer`, `allow` or `deny`, is the user's decision. */
export const answerDevice: Page<PersonContext, OAuthPageDeps> = async (context, deps) => {
  const userCode = context.form.text('user_code');
  const answer = context.form.text('answer');
  const request = await deps.consents.findDevice(userCode);
  if (request === null || (answer !== 'allow' && answer !== 'deny')) return devicePage(userCode || '-', deps);
  if (answer === 'allow') await deps.consents.approveDevice(userCode, askingOf(context));
  else await deps.consents.denyDevice(userCode);
  return page('oauth/device', { userCode: '', refusal: null, request: null, done: answer });
};
