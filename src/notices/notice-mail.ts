import { deviceName } from '../accounts/index.ts';
import type { Person, SecurityEvent } from '../accounts/index.ts';
import { layout } from '../mail/index.ts';
import type { MailContent, MailMessage } from '../mail/index.ts';
import { dateFormat, t as message } from '../translation/index.ts';
import type { MessageValues } from '../translation/index.ts';

/** What the queue keeps of a notice. */
export interface NoticeData {
  personId: string;
  /** The primary address at the time of the event: a new one could be that of an attacker. */
  to: string;
  event: SecurityEvent;
  /** Milliseconds since the epoch. */
  at: number;
}

interface Wording {
  subject: string;
  sentence: string;
  facts: [name: string, value: string][];
  /** Where a person sees and undoes it; a path. */
  path: string;
  action: string;
  /** What to do about an attack. */
  otherwise: string;
  /** Instead of the advice about attacks. */
  advice?: string;
}

/** A message of these mails, by the end of its key. */
const say = (name: string, values?: MessageValues): string => message(`mails.notice.${name}`, values);

function wordingOf(event: SecurityEvent, host: string): Wording {
  const device = (userAgent: string, address: string): [string, string][] => [
    [say('fact.device'), deviceName(userAgent)],
    [say('fact.address'), address === '' ? say('fact.unknown') : address],
  ];
  const subject = (name: string): string => say(`${name}.subject`, { host });
  const common = (name: string) => ({
    subject: subject(name),
    sentence: say(`${name}.sentence`),
    otherwise: say(`${name}.otherwise`),
  });
  switch (event.kind) {
    case 'access_given':
      return accessWording(event);
    case 'signed_in':
      return {
        ...common('signed_in'),
        facts: device(event.userAgent, event.address),
        path: '/settings/sessions',
        action: say('action.sessions'),
      };
    case 'ssh_key_added':
      return {
        ...common('ssh_key_added'),
        ...(event.uses === 'signing' && { sentence: say('ssh_key_added.sentence_signing') }),
        facts: [
          [say('fact.title'), event.title],
          [say('fact.fingerprint'), event.fingerprint],
        ],
        path: '/settings/keys',
        action: say('action.ssh_keys'),
      };
    case 'gpg_key_added':
      return {
        ...common('gpg_key_added'),
        facts: [[say('fact.fingerprint'), event.fingerprint]],
        path: '/settings/gpg',
        action: say('action.gpg_keys'),
      };
    case 'token_added':
      return {
        ...common('token_added'),
        facts: [
          [say('fact.name'), event.name],
          [say('fact.access'), event.access],
        ],
        path: '/settings/tokens',
        action: say('action.tokens'),
      };
    case 'second_factor_added':
      return {
        ...common(`${event.factor}_added`),
        facts: event.name === '' ? [] : [[say('fact.name'), event.name]],
        path: '/settings/security',
        action: say('action.second_factors'),
      };
    case 'second_factor_removed':
      return {
        subject: subject(`${event.factor}_removed`),
        sentence: say(
          event.by === 'administrator' ? 'all_removed.sentence_administrator' : `${event.factor}_removed.sentence`,
        ),
        facts: [],
        path: '/settings/security',
        action: say('action.second_factors'),
        otherwise: say('factor_removed.otherwise'),
      };
    case 'account_linked':
      return {
        ...common('account_linked'),
        facts: [
          [say('fact.server'), event.issuer],
          ...(event.label === '' ? [] : [[say('fact.name_there'), event.label] as [string, string]]),
        ],
        path: '/settings/linked-accounts',
        action: say('action.linked_accounts'),
      };
    case 'recovery_code_used':
      return {
        ...common('recovery_code_used'),
        facts: [[say('fact.codes_left'), String(event.left)]],
        path: '/settings/security',
        action: say('action.second_factors'),
      };
    case 'recovery_codes_made':
      return {
        ...common('recovery_codes_made'),
        facts: [],
        path: '/settings/security',
        action: say('action.second_factors'),
      };
    case 'wrong_codes':
      return {
        ...common('wrong_codes'),
        facts: device(event.userAgent, event.address),
        path: '/settings/account',
        action: say('action.change_password'),
      };
    case 'password_changed':
      return {
        subject: subject('password_changed'),
        sentence: say(`password_changed.by_${event.by}`),
        facts: [],
        path: '/settings/account',
        action: say('action.account'),
        otherwise: say('password_changed.otherwise'),
      };
    case 'primary_address_changed':
      return {
        subject: subject('primary_address_changed'),
        sentence: say('primary_address_changed.sentence', { from: event.from }),
        facts: [[say('fact.new_primary_address'), event.to ?? say('fact.none')]],
        path: '/settings/account',
        action: say('action.account'),
        otherwise: say('primary_address_changed.otherwise'),
      };
  }
}

const segments = (...names: string[]): string => names.map(encodeURIComponent).join('/');

/** Who gave which access; nothing that an attacker gains, so without advice. */
function accessWording({ place, role, by }: Extract<SecurityEvent, { kind: 'access_given' }>): Wording {
  const { name, path } = {
    repository: () => {
      const { owner, name } = place as Extract<typeof place, { kind: 'repository' }>;
      return { name: `${owner}/${name}`, path: `/repos/${segments(owner, name)}` };
    },
    organisation: () => ({ name: place.name, path: `/orgs/${segments(place.name)}` }),
    team: () => {
      const { organisation, name } = place as Extract<typeof place, { kind: 'team' }>;
      const path = `/orgs/${segments(organisation)}/teams/${segments(name)}`;
      return { name: `${organisation}/${name}`, path };
    },
  }[place.kind]();
  const who = by === null ? say('access_given.administrator') : by.username;
  return {
    subject: say('access_given.subject', { who, name }),
    sentence: say(`access_given.${place.kind}`, { who, name }),
    facts: role === null ? [] : [[say('fact.role'), role]],
    path,
    action: say(`action.${place.kind}`),
    otherwise: '',
    advice: say('access_given.advice'),
  };
}

const moment = dateFormat({ dateStyle: 'long', timeStyle: 'short' });

/** In the present language: the caller runs it in that of the reader. */
export function noticeMail({ to, event, at }: NoticeData, { username }: Person, baseUrl: string): MailMessage {
  const { host } = new URL(baseUrl);
  const { subject, sentence, facts, path, action, otherwise, advice } = wordingOf(event, host);
  const content: MailContent = {
    title: subject,
    parts: [
      sentence,
      { facts: [[say('fact.account'), username ?? ''], ...facts, [say('fact.when'), `${moment(at)} UTC`]] },
    ],
    action: { text: action, url: `${baseUrl}${path}` },
    after: [advice ?? `${say('if_it_was_you')} ${otherwise}`],
    footer: [say('footer', { host }), { text: say('choose'), url: `${baseUrl}/settings/notices` }],
  };
  return { to, subject, ...layout(content) };
}
