// formBrowser(origin) → open(address, form?): a browser without scripts, as far as a flow needs one: forms, and a
// cookie.
interface FormResponse {
  status: number;
  location: string | null;
  text: string;
}

export function createFormClient(
  origin: string,
): (address: string, form?: Record<string, string>) => Promise<FormResponse> {
  let cookie = '';
  return async (address, form) => {
    const url = new URL(address, origin);
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        cookie,
        ...(form === undefined ? {} : { origin: url.origin, 'content-type': 'application/x-www-form-urlencoded' }),
      },
      redirect: 'manual',
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair] = line.split(';');
      if (pair?.includes('session')) cookie = pair;
    }
    return { status: response.status, location: response.headers.get('location'), text: await response.text() };
  };
}
