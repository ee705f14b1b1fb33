/** Requests of one user to the demo server, in its own process. */
export interface Caller {
  /**
   * @returns the response of the JSON API at `/api/v1` + path; any status other than 2xx is an error
   */
  api(method: string, path: string, body?: object): Promise<Answer>;
  /** Sends bytes to any path, like a package client or a runner. */
  send(method: string, path: string, body: Uint8Array | string, headers?: Record<string, string>): Promise<Answer>;
}

/** Parsed JSON, trusted to have the fields of this server version. */
export type Answer = ReturnType<typeof JSON.parse>;

export function callerOf(url: string, token: string): Caller {
  const send: Caller['send'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(method === 'GET' ? {} : { body: body as string }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text.slice(0, 300)}`);
    return text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text;
  };
  return {
    send,
    api: (method, path, body = {}) =>
      send(method, `/api/v1${path}`, JSON.stringify(body), { 'content-type': 'application/json' }),
  };
}
