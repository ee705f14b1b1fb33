// formats → how a version is published in each format, where its file is read, and what a client shows of a refusal.
import { crateBody, digestOf, npmBody, pypiBody } from './package-server.ts';
import type { Answer } from './package-server.ts';

export interface Publishing {
  method: string;
  target: string;
  headers: Record<string, string>;
  body: Buffer;
}

interface Format {
  /** The request that publishes a version; of an image, its only layer. */
  publish(name: string, version: string): Publishing;
  /** Where readers get the file. */
  file(name: string, version: string): string;
  /** What the client shows of a refusal. */
  words(answer: Answer): unknown;
  /** Names that are none in this format. */
  badNames: readonly string[];
  /** The status of a second publish; null where content is its own name. */
  again: number | null;
  /** Bytes at the end that no content needs: what follows the last boundary of a form. */
  spare?: number;
}

const text = ({ text }: Answer): string => text.trim();
export const contentOf = (name: string, version: string): Buffer =>
  Buffer.from(`content of ${name} ${version} `.repeat(200));
const long = 'x'.repeat(300);

export const formats: Readonly<Record<string, Format>> = {
  generic: {
    publish: (name, version) => ({
      method: 'PUT',
      target: `/packages/alice/generic/${name}/${version}/file`,
      headers: {},
      body: contentOf(name, version),
    }),
    file: (name, version) => `/packages/alice/generic/${name}/${version}/file`,
    words: text,
    badNames: ['%2e%2e', '..', 'a%2fb', 'a%20b', long],
    again: 409,
  },
  npm: {
    publish: (name, version) => ({
      method: 'PUT',
      target: `/packages/alice/npm/${name}`,
      headers: { 'Content-Type': 'application/json' },
      body: Buffer.from(npmBody(decodeURIComponent(name), version, {}, 'latest', contentOf(name, version))),
    }),
    file: (name, version) => `/packages/alice/npm/${name}/-/${name}-${version}.tgz`,
    words: ({ json }) => json?.error,
    badNames: ['%2e%2e', 'UPPER', '.hidden', 'a%20b', '@alice%2f..%2fx', long],
    again: 403,
  },
  pypi: {
    publish: (name, version) => {
      const written = decodeURIComponent(name);
      const { headers, body } = pypiBody(written, version, { content: contentOf(name, version) });
      return { method: 'POST', target: '/packages/alice/pypi/', headers, body };
    },
    file: (name, version) => `/packages/alice/pypi/files/${name}/${version}/${name}-${version}.tar.gz`,
    words: text,
    badNames: ['%2e%2e', '..', '-a', 'a%2fb', 'a%20b', long],
    again: 409,
    spare: 4,
  },
  cargo: {
    publish: (name, version) => ({
      method: 'PUT',
      target: '/packages/alice/cargo/api/v1/crates/new',
      headers: {},
      body: crateBody(decodeURIComponent(name), version, {}, contentOf(name, version)),
    }),
    file: (name, version) => `/packages/alice/cargo/api/v1/crates/${name}/${version}/download`,
    words: ({ json }) => json?.errors?.[0]?.detail,
    badNames: ['%2e%2e', '1a', 'a%2fb', 'a%20b', long],
    again: 409,
  },
  maven: {
    publish: (name, version) => ({
      method: 'PUT',
      target: `/packages/alice/maven/org/example/${name}/${version}/${name}-${version}.jar`,
      headers: {},
      body: contentOf(name, version),
    }),
    file: (name, version) => `/packages/alice/maven/org/example/${name}/${version}/${name}-${version}.jar`,
    words: ({ json }) => json?.detail,
    badNames: ['%2e%2e', 'a%20b', '.hidden', long],
    again: 409,
  },
  image: {
    publish: (name, version) => ({
      method: 'POST',
      target: `/v2/alice/${name}/blobs/uploads/?digest=${digestOf(contentOf(name, version))}`,
      headers: { 'Content-Type': 'application/octet-stream' },
      body: contentOf(name, version),
    }),
    file: (name, version) => `/v2/alice/${name}/blobs/${digestOf(contentOf(name, version))}`,
    words: ({ json }) => json?.errors?.[0]?.message,
    badNames: ['%2e%2e', 'UPPER', '-a', 'a%2f%2fb', 'a%20b', long],
    again: null,
  },
};
