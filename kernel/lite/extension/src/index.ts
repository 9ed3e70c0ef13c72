// The Go kernel of JupyterLite: a kernel's requests go to the worker of client.js, the
// worker's events become Jupyter's messages.

import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import { KernelMessage } from '@jupyterlab/services';
import { BaseKernel, IKernel, IKernelClient, IKernelSpecs } from '@jupyterlite/services';

// A part of package kernel/cellproto.
interface CellError { ename: string; evalue: string; traceback: string[] }
interface Comm { type: 'comm_open' | 'comm_msg' | 'comm_close'; comm_id: string; target_name?: string; data: any; metadata?: any }
interface CellEvent {
  id: number;
  type: string;
  name?: 'stdout' | 'stderr';
  text?: string;
  data?: Record<string, any>;
  metadata?: Record<string, any>;
  display?: string;
  update?: boolean;
  wait?: boolean;
  password?: boolean;
  error?: CellError;
  matches?: { text: string; kind: string; type?: string }[];
  start?: number;
  end?: number;
  next?: string;
  typed?: string;
  depth?: number;
  comms?: Comm[];
  follow?: boolean;
}
interface Client {
  ready: Promise<void>;
  execute(cell: number, code: string, event: (e: CellEvent) => void, silent: boolean, place?: string): Promise<CellEvent>;
  request(request: object, event?: (e: CellEvent) => void): Promise<CellEvent>;
  reply(id: number, text: string): void;
  refuse(id: number, error: string): void;
  interrupt(): Promise<void>;
  dispose(): void;
}
declare global {
  interface Window {
    warpbook?: { Client: new (options: object) => Client; answering: Promise<void>; keep(): Promise<void> };
  }
}

const program = (name: string) => URLExt.join(PageConfig.getBaseUrl(), 'program', name);

// script loads a classic script once.
const loaded = new Map<string, Promise<void>>();
function script(name: string): Promise<void> {
  let promise = loaded.get(name);
  if (!promise) {
    promise = new Promise((resolve, reject) => {
      const element = document.createElement('script');
      element.src = program(name);
      element.onload = () => resolve();
      element.onerror = () => reject(new Error(`${element.src} could not be loaded: check the connection and reload this page.`));
      document.head.append(element);
    });
    loaded.set(name, promise);
  }
  return promise;
}

const info: KernelMessage.IInfoReplyMsg['content'] = {
  status: 'ok',
  protocol_version: '5.3',
  implementation: 'warpbook',
  implementation_version: '0.1.0',
  language_info: { name: 'go', version: '1.26', mimetype: 'text/x-go', file_extension: '.go', pygments_lexer: 'go', codemirror_mode: 'go' },
  banner: 'warpbook in the browser: Go cells and a GPU emulator in this tab',
  help_links: [{ text: 'Go language', url: 'https://go.dev/ref/spec' }]
};

// styled gives a traceback the colours of other kernels, as package kernel/server does: the
// name is bold and red, places are green, and a caret is red.
function styled({ ename, evalue, traceback }: CellError): CellError {
  const red = '\x1b[1;31m';
  const plain = '\x1b[0m';
  return {
    ename, evalue, traceback: traceback.map((text, i) => {
      const named = text.startsWith(ename + ':');
      let head = '';
      if (i === 0 && (named || ename === 'compile error')) {
        head = red + ename + plain + (named ? ':' : ': ');
        text = named ? text.slice(ename.length + 1) : text;
      }
      return head + text.replace(/(\n\s+)(\^+)$/, `$1${red}$2${plain}`).replace(/^((?:subshell \d+, )?cell \d+(?:, line \d+|:\d+:\d+))/gm, `\x1b[32m$1${plain}`);
    })
  };
}

class GoKernel extends BaseKernel {
  // languageOf is the language of the notebook that a kernel belongs to, '' if it names none.
  constructor(options: IKernel.IOptions, private languageOf: (kernel: string) => string) {
    super({
      ...options,
      sendMessage: msg => {
        // JupyterLite drops the cells that wait after every error but that of an interrupt,
        // also where the cell says that it raises one.
        if (msg.header.msg_type === 'execute_reply' && this.goesOn) {
          msg.metadata = { ...msg.metadata, cause: 'interrupt' };
        }
        options.sendMessage(msg);
      }
    });
    this.client = this.begin();
    this.client.catch(() => undefined); // each request reports it
  }

  private async begin(): Promise<Client> {
    await script('program.js');
    await script('client.js');
    await script('keep.js');
    await window.warpbook!.answering;
    const reply = await fetch(program('files.json'));
    const files = reply.ok ? await reply.json() : [];
    const client = new window.warpbook!.Client({
      worker: program('worker.js'),
      files: files.map((path: string) => ({ path: '/notebooks/' + path, url: URLExt.join(PageConfig.getBaseUrl(), 'files', path) })),
      folder: ('/notebooks/' + this.location).replace(/\/+$/, ''),
      late: (e: CellEvent) => this.publish(e),
      restarted: () => { this.language = ''; }
    });
    return client;
  }

  dispose(): void {
    if (this.isDisposed) {
      return;
    }
    void this.client.then(client => client.dispose(), () => undefined);
    super.dispose();
  }

  async interrupt(): Promise<void> {
    await (await this.client).interrupt();
  }

  async kernelInfoRequest(): Promise<KernelMessage.IInfoReplyMsg['content']> {
    return info;
  }

  private publish(e: CellEvent): void {
    const data = { data: e.data ?? {}, metadata: e.metadata ?? {}, transient: e.display ? { display_id: e.display } : {} };
    switch (e.type) {
      case 'stream':
        this.stream({ name: e.name!, text: e.text! });
        break;
      case 'display':
        if (e.update) {
          this.updateDisplayData(data as any);
        } else {
          this.displayData(data);
        }
        break;
      case 'comm':
        this.say(e.comms);
        break;
      case 'clear':
        this.clearOutput({ wait: !!e.wait });
        break;
      case 'input':
        if (!this.mayAsk) {
          void this.client.then(client => client.refuse(e.id, 'the client that runs this cell does not allow input'));
          break;
        }
        this.asking = e.id;
        this.inputRequest({ prompt: e.text ?? '', password: !!e.password });
        break;
    }
  }

  // speak sets the language that the notebook's metadata name, which no request brings.
  private async speak(client: Client): Promise<void> {
    const language = this.languageOf(this.id);
    if (language && language !== this.language) {
      this.language = language;
      await client.execute(0, '%lang ' + language, () => undefined, true);
    }
  }

  private failed(plain: CellError): KernelMessage.IExecuteReplyMsg['content'] {
    const error = styled(plain);
    this.publishExecuteError(error);
    return { status: 'error', execution_count: this.executionCount, ...error };
  }

  async executeRequest(content: KernelMessage.IExecuteRequestMsg['content']): Promise<KernelMessage.IExecuteReplyMsg['content']> {
    this.goesOn = content.stop_on_error === false;
    this.mayAsk = content.allow_stdin !== false;
    let done: CellEvent;
    try {
      const client = await this.client;
      await this.speak(client);
      done = await client.execute(this.executionCount, content.code, e => content.silent || this.publish(e), content.silent ?? false, content.silent ? undefined : (this.parent?.metadata as any)?.cellId);
    } catch (e: any) {
      return this.failed({ ename: 'kernel', evalue: e.message, traceback: [e.message] });
    }
    if (!content.silent) {
      // The site keeps itself for offline use once the first cell has run; a page that is
      // served without https cannot.
      void window.warpbook!.keep().catch(e => console.warn(e));
    }
    if (done.error) {
      return this.failed(done.error);
    }
    if (done.data && !content.silent) {
      this.publishExecuteResult({ execution_count: this.executionCount, data: done.data, metadata: done.metadata ?? {} });
    }
    const payload = done.next ? [{ source: 'set_next_input', text: done.next, replace: true }] : [];
    return { status: 'ok', execution_count: this.executionCount, user_expressions: {}, payload };
  }

  async completeRequest(content: KernelMessage.ICompleteRequestMsg['content']): Promise<KernelMessage.ICompleteReplyMsg['content']> {
    const done = await (await this.client).request({ type: 'complete', code: content.code, cursor: content.cursor_pos });
    const matches = done.matches ?? [];
    const start = done.start ?? content.cursor_pos;
    const end = done.end ?? content.cursor_pos;
    return {
      status: 'ok', matches: matches.map(m => m.text), cursor_start: start, cursor_end: end,
      metadata: { _jupyter_types_experimental: matches.map(m => ({ start, end, text: m.text, type: (m.type || m.kind).replace(/ /g, '\u00a0'), signature: m.type ?? '' })) }
    };
  }

  async inspectRequest(content: KernelMessage.IInspectRequestMsg['content']): Promise<KernelMessage.IInspectReplyMsg['content']> {
    const done = await (await this.client).request({ type: 'inspect', code: content.code, cursor: content.cursor_pos });
    return { status: 'ok', found: !!done.data, data: done.data ?? {}, metadata: {} };
  }

  async isCompleteRequest(content: KernelMessage.IIsCompleteRequestMsg['content']): Promise<KernelMessage.IIsCompleteReplyMsg['content']> {
    const done = await (await this.client).request({ type: 'is_complete', code: content.code });
    switch (done.typed) {
      case 'complete':
      case 'invalid':
        return { status: done.typed };
      case 'incomplete':
        return { status: 'incomplete', indent: '\t'.repeat(done.depth ?? 0) };
    }
    return { status: 'unknown' };
  }

  async commInfoRequest(): Promise<KernelMessage.ICommInfoReplyMsg['content']> {
    const { comms } = await (await this.client).request({ type: 'comms' });
    return { status: 'ok', comms: Object.fromEntries((comms ?? []).map(c => [c.comm_id, { target_name: c.target_name! }])) };
  }

  inputReply(content: KernelMessage.IInputReplyMsg['content']): void {
    const id = this.asking;
    void this.client.then(client => client.reply(id, 'value' in content ? content.value : ''));
  }

  async commOpen(msg: KernelMessage.ICommOpenMsg): Promise<void> { await this.talk(msg); }
  async commMsg(msg: KernelMessage.ICommMsgMsg): Promise<void> { await this.talk(msg); }
  async commClose(msg: KernelMessage.ICommCloseMsg): Promise<void> { await this.talk(msg); }

  // talk passes a message to the program, which has the widgets, and calls the functions
  // whose controls have changed. JupyterLite hands over one message at a time.
  private async talk({ header, content }: KernelMessage.IMessage): Promise<void> {
    try {
      const client = await this.client;
      const { comms, follow } = await client.request({ type: 'comm', comm: { ...content, type: header.msg_type } });
      this.say(comms, header);
      if (follow) {
        await client.request({ type: 'execute', follow: true, silent: true }, e => this.publish(e));
      }
    } catch (e) {
      console.warn(e);
    }
  }

  private say(comms: Comm[] | undefined, parent?: KernelMessage.IHeader): void {
    for (const { type, metadata, ...content } of comms ?? []) {
      this.handleComm(type, content as any, metadata ?? {}, [], parent);
    }
  }

  private client: Promise<Client>;
  private language = ''; // that was set
  private goesOn = false; // after an error of the running cell
  private mayAsk = true; // the client of the running cell shows questions
  private asking = 0; // the cell of the last question
}

// narrow gives the notebook the width of a phone: the file browser stays folded until a
// finger opens it, and cells have no columns for prompts and folding beside their text.
function narrow(app: JupyterFrontEnd, touched: () => boolean): void {
  const phone = '(max-width: 760px)';
  const style = document.createElement('style');
  style.textContent = `@media ${phone} {
    .jp-Notebook { --jp-notebook-padding: 4px; --jp-cell-padding: 3px; --jp-cell-collapser-width: 4px; --jp-cell-prompt-width: 0px; }
    .jp-Notebook .jp-InputPrompt, .jp-Notebook .jp-OutputPrompt { display: none; }
    .jp-Notebook .jp-RenderedHTMLCommon { overflow-wrap: anywhere; }
    .jp-SideBar.lm-TabBar { min-width: 32px; max-width: 32px; }
  }`;
  document.head.append(style);
  if (!window.matchMedia(phone).matches) {
    return;
  }
  void app.restored.then(() => (app.shell as any).collapseLeft?.());
  // JupyterLab shows the file browser for each notebook that an address opens.
  const activate = app.shell.activateById.bind(app.shell);
  app.shell.activateById = id => {
    if (id !== 'filebrowser' || touched()) {
      activate(id);
    }
  };
}

// asked keeps the notebook of the address in front: on a slow machine JupyterLab opens it, and
// then restores the notebooks that were open before in its place.
function asked(app: JupyterFrontEnd, touched: () => boolean): void {
  const path = new URLSearchParams(window.location.search).get('path');
  const pathOf = (widget: any) => widget?.context?.path;
  (app.shell as any).currentChanged?.connect((_: unknown, { newValue }: any) => {
    if (!path || touched() || pathOf(newValue) === path) {
      return;
    }
    setTimeout(() => void app.commands.execute('docmanager:open', { path }), 0); // what is open comes to the front
  });
}

// languageOf is metadata.lang of the open notebook with this kernel.
function languageOf(app: JupyterFrontEnd, kernel: string): string {
  for (const widget of app.shell.widgets('main') as Iterable<any>) {
    if (widget.sessionContext?.session?.kernel?.id === kernel) {
      return String(widget.context?.model?.getMetadata?.('lang') ?? '');
    }
  }
  return '';
}

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'warpbook-lite:kernel',
  description: 'Go cells in a web worker',
  autoStart: true,
  requires: [IKernelSpecs, IKernelClient],
  activate: (app: JupyterFrontEnd, specs: IKernelSpecs, kernels: IKernelClient) => {
    void script('keep.js').catch(e => console.warn(e)); // registers the service worker
    let user = false; // has done something
    for (const event of ['pointerdown', 'keydown']) {
      window.addEventListener(event, () => { user = true; }, { once: true, capture: true });
    }
    narrow(app, () => user);
    asked(app, () => user);
    const running = new Map<string, GoKernel>();
    specs.register({
      spec: {
        name: 'warpbook', display_name: 'Go (warpbook)', language: 'go', argv: [],
        resources: {}
      },
      create: async options => {
        const kernel = new GoKernel(options, id => languageOf(app, id));
        running.set(options.id, kernel);
        kernel.disposed.connect(() => running.delete(options.id));
        return kernel;
      }
    });
    // JupyterLite's interrupt drops the cells that wait and does not tell the kernel.
    const drop = kernels.interrupt.bind(kernels);
    kernels.interrupt = async (id: string) => {
      void running.get(id)?.interrupt();
      await drop(id);
    };
  }
};

export default plugin;
