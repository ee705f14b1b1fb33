// startSmtpStub(t, answers) → an SMTP server in plain text that misbehaves as its answers say:
//   {port, env, lines, mails, connections()}.
// answers: by the first word of a line ("CONNECT", "EHLO", "MAIL", "RCPT", "DATA", ".", …), what it replies: a text,
// null for silence, 'drip' for a reply without end, 'die' for a closed connection, or a function of how often this was
// asked.
// It keeps every line that it got, and the messages.
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import type { Owner } from '../fixtures/temporary-folder.ts';

type Answer = string | null;
type Answers = Record<string, Answer | ((nth: number) => Answer)>;

const usual: Answers = {
  CONNECT: '220 mail.example.org ESMTP',
  EHLO: '250-mail.example.org\r\n250 SIZE 10485760',
  MAIL: '250 2.1.0 Ok',
  RCPT: '250 2.1.5 Ok',
  DATA: '354 End data with <CR><LF>.<CR><LF>',
  '.': '250 2.0.0 Ok: queued as 12345',
  RSET: '250 2.0.0 Ok',
  QUIT: '221 2.0.0 Bye',
};

export async function startSmtpStub(t: Owner, answers: Answers = {}) {
  const lines: string[] = [];
  const mails: string[] = [];
  const asked = new Map<string, number>();
  const sockets = new Set<Socket>();
  let connections = 0;

  function answer(socket: Socket, word: string): void {
    const nth = (asked.get(word) ?? 0) + 1;
    asked.set(word, nth);
    const given = word in answers ? answers[word]! : (usual[word] ?? '502 5.5.2 Unknown command');
    const text = typeof given === 'function' ? given(nth) : given;
    if (text === 'die') socket.destroy();
    else if (text === 'drip') {
      const timer = setInterval(() => socket.write('250-and so on\r\n'), 200);
      socket.once('close', () => clearInterval(timer));
    } else if (text !== null) socket.write(`${text}\r\n`);
  }

  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    let rest = '';
    let message: string[] | null = null;
    answer(socket, 'CONNECT');
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\r\n');
      rest = parts.pop()!;
      for (const line of parts) {
        if (message === null) {
          lines.push(line);
          const word = /^[A-Z]+/.exec(line)?.[0] ?? line;
          answer(socket, word);
          if (word === 'DATA' && !socket.destroyed) message = [];
        } else if (line === '.') {
          mails.push(message.join('\r\n'));
          message = null;
          answer(socket, '.');
        } else message.push(line);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as { port: number };
  return {
    port,
    lines,
    mails,
    connections: () => connections,
    env: {
      SERVICE_BASE_URL: 'https://git.example.org',
      SERVICE_MAIL_HOST: '127.0.0.1',
      SERVICE_MAIL_PORT: String(port),
      SERVICE_MAIL_TLS: 'none',
      SERVICE_MAIL_FROM: 'Hearth <hearth@example.org>',
      SERVICE_MAIL_TIMEOUT: '1s',
    },
  };
}
