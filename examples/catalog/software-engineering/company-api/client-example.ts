// A small client for the company API: headers, a shared token, and the retry rules
// of SKILL.md. It uses the built-in fetch of Node 18 and later.

interface ClientOptions {
  baseUrl: string;
  tenantId: string;
  clientId: string;
  clientSecret: string;
  timeoutMs?: number; // for each try; 10,000 by default
}

export interface Page<T> {
  items: T[];
  next?: string;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId?: string,
  ) {
    super(`${status} ${code}: ${message}`);
  }
}

const RENEW_BEFORE_MS = 5 * 60 * 1000;
const BACK_OFF_MS = [1000, 2000, 4000];

export class CompanyClient {
  private token?: { value: string; expires: number };
  private pending?: Promise<string>; // parallel calls share one fetch

  constructor(private readonly options: ClientOptions) {}

  async request<T>(method: string, path: string, body?: unknown): Promise<T> {
    let renewed = false;
    let waits = 0;
    for (;;) {
      const token = await this.currentToken();
      const response = await this.send(method, path, body, token);
      if (response.ok) {
        return (response.status === 204 ? undefined : await response.json()) as T;
      }
      if (response.status === 401 && !renewed) {
        renewed = true;
        if (this.token?.value === token) this.token = undefined;
        continue;
      }
      if (response.status === 429 && waits < BACK_OFF_MS.length) {
        await sleep(BACK_OFF_MS[waits++] * (0.8 + 0.4 * Math.random()));
        continue;
      }
      // 500 is not repeated: a write may have happened.
      throw await toError(response);
    }
  }

  private currentToken(): Promise<string> {
    if (this.token && Date.now() < this.token.expires - RENEW_BEFORE_MS) {
      return Promise.resolve(this.token.value);
    }
    this.pending ??= this.fetchToken().finally(() => {
      this.pending = undefined;
    });
    return this.pending;
  }

  private async fetchToken(): Promise<string> {
    const { clientId, clientSecret } = this.options;
    const response = await this.send("POST", "/v1/auth/token", {
      client_id: clientId,
      client_secret: clientSecret,
    });
    if (!response.ok) throw await toError(response);
    const { token, expires_in } = (await response.json()) as { token: string; expires_in: number };
    this.token = { value: token, expires: Date.now() + expires_in * 1000 };
    return token;
  }

  private send(method: string, path: string, body?: unknown, token?: string): Promise<Response> {
    const headers: Record<string, string> = { "X-Tenant-Id": this.options.tenantId };
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    return fetch(new URL(path, this.options.baseUrl), {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(this.options.timeoutMs ?? 10_000),
    });
  }
}

async function toError(response: Response): Promise<ApiError> {
  const data = (await response.json().catch(() => ({}))) as {
    error?: { code?: string; message?: string; request_id?: string };
  };
  const { code = "unknown", message = response.statusText, request_id } = data.error ?? {};
  return new ApiError(response.status, code, message, request_id);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
