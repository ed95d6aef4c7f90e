// Proves in a real browser that the page of a fleet can be read, sorted and filtered, by everybody, and that nothing leaves it.
//
// The program makes the page of reports that are generated here, hostile names among them. `node .ci/browser.mjs FOLDER`
// leaves the page and pictures of it in the folder.

import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.resolve('.ci/cache/browser/package.json'));
const { chromium } = require('playwright-core');
const AXE = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const STATES = ['requirements_gathered', 'template_generated', 'security_gate_evaluated', 'preflight_validated',
  'cost_estimated', 'user_confirmation', 'deployment_executed', 'integration_tests_passed'];
const HOSTILE = [
  '<script>document.title="owned"</script>', '"><img src=x onerror=alert(1)>', '</table></main><h1>gone</h1>',
  '\'-alert(1)-\'', '&lt;b&gt; &amp;', '<style>*{display:none}</style>', '\u202egnp.exe', 'a\u0000b\nc', '<!-- --!>',
  '${7*7} {{7*7}}', 'x'.repeat(180), 'https://evil.example/x', '</script><script src=//evil.example/x.js></script>',
  '::set-env name=A::b', '##[error]x', '日本語 العربية עברית',
];
const ROWS = 420;
const LOST = 7;
const UNKNOWN = 3;

// What the browser has to say about every check.
let passed = 0;
function check(what, holds, detail = '') {
  if (!holds) throw new Error(`${what}${detail === '' ? '' : `: ${detail}`}`);
  passed += 1;
  console.log(`ok      ${what}`);
}

// The same numbers in every run.
function dice(seed) {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

function reports() {
  const roll = dice(20261005);
  const all = [];
  for (let n = 0; n < ROWS; n += 1) {
    const hostile = n < HOSTILE.length ? HOSTILE[n] : null;
    const folder = hostile === null ? `.azure/deployments/deploy-202610${String(10 + (n % 20))}-${100000 + n}` : `.azure/deployments/${hostile}`;
    const findings = [];
    const add = (id, cls) => findings.push({ id, class: cls });
    const luck = roll(100);
    const states = STATES.map((id) => ({ id, status: 'covered' }));
    if (hostile !== null) states[4].id = hostile;
    let health = 'healthy';
    if (luck >= 62) {
      const at = [2, 2, 2, 3, 3, 5, 7, 4][roll(8)];
      const status = ['missing', 'missing', 'missing', 'failed', 'late', 'stale'][roll(6)];
      states[at].status = status;
      add(`state-${status}`, 'violation');
      if (roll(3) === 0) {
        states[(at + 3) % 8].status = 'missing';
        add('state-missing', 'violation');
      }
    } else if (luck >= 54) {
      states[3].status = 'out-of-order';
      add('out-of-order', 'agent');
    } else if (luck >= 48) {
      add('retry', 'agent');
    }
    if (roll(12) === 0) {
      health = 'unhealthy';
      add('resource-unhealthy', 'failure');
    } else if (roll(25) === 0) {
      health = 'not-tested';
      add('health-unknown', 'violation');
    }
    if (roll(5) === 0) add('evidence-missing', 'notice');
    const worst = ['failure', 'violation', 'agent', 'notice'].find((cls) => findings.some((one) => one.class === cls));
    const verdict = { failure: 'deployment-failure', violation: 'process-violation', agent: 'agent-issue' }[worst] ?? 'verified-success';
    const claim = roll(10) === 0 ? 'failed' : 'succeeded';
    const covered = states.filter((state) => state.status === 'covered').length;
    all.push({
      schema: 'process-integrity-report/v1', deployment_id: `deploy-${n}`, folder, verdict,
      false_success: claim === 'succeeded' && verdict !== 'verified-success', claim, health: { status: health, checks: [] },
      coverage: { covered, essential: 8, percent: Math.floor((covered * 100) / 8), threshold: 100 }, states,
      missing: states.filter((state) => !['covered', 'out-of-order'].includes(state.status)).map((state) => state.id),
      findings,
    });
  }
  return all;
}

function program() {
  const built = execFileSync('cargo', ['build', '--locked', '--message-format=json-render-diagnostics'],
    { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });
  const messages = built.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  const found = messages.find((message) => message.executable && message.target.name === 'process-integrity');
  if (!found) throw new Error('cargo built no program');
  return found.executable;
}

// Writes the reports, as shards do, and makes the page of them.
function makePage(folder) {
  const all = reports();
  const lines = all.map((report) => `${JSON.stringify(report)}\n`);
  const half = lines.length / 2;
  fs.writeFileSync(path.join(folder, 'shard-1.jsonl'), lines.slice(0, half).join(''));
  // The second shard was killed while it wrote.
  const torn = `${lines.slice(half).join('')}{"schema":"process-integrity-report/v1","deployment_`;
  fs.writeFileSync(path.join(folder, 'shard-2.jsonl'), torn);
  const planned = all.slice(0, ROWS - UNKNOWN).map((report) => ({ path: report.folder, bytes: 1 }));
  const lost = Array.from({ length: LOST }, (_, n) => ({ path: `.azure/deployments/lost-${n}<b>`, bytes: 1 }));
  const plan = {
    schema: 'process-integrity-plan/v1', folders: planned.length + lost.length,
    shards: [{ shard: 1, folders: planned }, { shard: 2, folders: lost }],
  };
  fs.writeFileSync(path.join(folder, 'plan.json'), JSON.stringify(plan));
  const merge = spawnSync(program(), ['merge', '--plan', 'plan.json', '--html', 'fleet.html', 'shard-1.jsonl', 'shard-2.jsonl'],
    { cwd: folder, encoding: 'utf8' });
  if (merge.status !== 1) throw new Error(`the program ended with ${merge.status}: ${merge.stderr}`);
  return { all, page: path.join(folder, 'fleet.html') };
}

// Opens the page, and notes what it should not do.
async function open(browser, page, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const tab = await context.newPage();
  const wrong = [];
  const url = pathToFileURL(page).href;
  tab.on('console', (message) => { if (message.type() === 'error' || message.type() === 'warning') wrong.push(message.text()); });
  tab.on('pageerror', (error) => wrong.push(String(error)));
  tab.on('dialog', (dialog) => { wrong.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  tab.on('request', (request) => { if (request.url() !== url) wrong.push(`request ${request.url()}`); });
  await tab.goto(url);
  return { tab, wrong, close: () => context.close() };
}

const visible = (tab) => tab.locator('#rows tbody tr:visible').count();
const fits = (tab) => tab.evaluate(() => {
  const root = document.documentElement;
  return root.scrollWidth <= root.clientWidth ? '' : `${root.scrollWidth} > ${root.clientWidth}`;
});

// The worst contrast of text with what is behind it, by WCAG 2.2, section 1.4.3.
const contrast = (tab) => tab.evaluate(() => {
  const parse = (color) => color.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  let worst = { ratio: Infinity, what: '' };
  for (const element of document.querySelectorAll('body *')) {
    const own = Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
    if (!own || element.closest('script, [hidden]') || element.getClientRects().length === 0) continue;
    const [one, two] = [light(parse(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (two + 0.05);
    if (ratio < worst.ratio) worst = { ratio, what: `${element.tagName}.${element.className} ${element.textContent.slice(0, 40)}` };
  }
  return worst;
});

async function axe(tab) {
  await tab.evaluate(AXE);
  const result = await tab.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return result.violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html).join(' ')}`).join('\n');
}

async function withoutScript(browser, page) {
  const { tab, wrong, close } = await open(browser, page, { javaScriptEnabled: false });
  check('without JavaScript every row is shown', await visible(tab) === ROWS);
  check('without JavaScript there is no control that does nothing', await tab.locator('form:visible, button:visible').count() === 0);
  check('what was not validated is listed', await tab.locator('.lost tbody tr:visible').count() === LOST);
  check('what is not in the plan is said', await tab.getByText('not in the plan', { exact: true }).count() === UNKNOWN);
  check('without JavaScript nothing goes wrong', wrong.length === 0, wrong.join('\n'));
  await close();
}

async function filter(tab, all) {
  const status = tab.locator('#count');
  check('the count says how many there are', (await status.textContent()) === `${ROWS} deployments, the first 200 shown`);
  await tab.getByRole('button', { name: 'Show 200 more' }).click();
  check('more are shown where they are asked for', await visible(tab) === 400);
  await tab.getByRole('button', { name: 'Show all' }).click();
  check('all are shown where they are asked for', await visible(tab) === ROWS);
  const failures = all.filter((report) => report.verdict === 'deployment-failure').length;
  await tab.getByLabel('Verdict', { exact: true }).selectOption({ index: 1 });
  await tab.waitForFunction((n) => document.querySelector('#count').textContent.startsWith(`${n} of`), failures);
  check('a verdict narrows the rows', failures > 0 && await visible(tab) === failures);
  await tab.getByLabel('Verdict', { exact: true }).selectOption({ index: 0 });
  await tab.getByLabel('False successes only').check();
  const lies = all.filter((report) => report.false_success).length;
  await tab.waitForFunction((n) => document.querySelector('#count').textContent.startsWith(`${n} of`), lies);
  check('false successes can be asked for', await visible(tab) === Math.min(lies, 200));
  await tab.getByLabel('False successes only').uncheck();
  await tab.getByLabel('Search').fill('SECURITY_GATE unhealthy');
  const both = all.filter((report) => report.states[2].status !== 'covered' && report.health.status === 'unhealthy').length;
  await tab.waitForFunction((n) => document.querySelector('#count').textContent.startsWith(`${n} of`), both);
  check('words narrow the rows, whatever their case', both > 0 && await visible(tab) === both);
  await tab.getByLabel('Search').fill('');
  await tab.waitForFunction((n) => document.querySelector('#count').textContent.startsWith(`${n} deployments`), ROWS);
}

async function sort(tab) {
  const head = (name) => tab.locator('#rows thead th', { hasText: name });
  const names = () => tab.locator('#rows tbody tr:visible th').evaluateAll((cells) => cells.slice(0, 20).map((cell) => cell.textContent));
  const before = await names();
  check('the first order is by verdict', await head('Verdict').getAttribute('aria-sort') === 'descending');
  await head('Deployment').getByRole('button').click();
  const up = await names();
  check('a column sorts the rows, and says so', await head('Deployment').getAttribute('aria-sort') === 'ascending'
    && JSON.stringify(up) !== JSON.stringify(before) && await tab.locator('[aria-sort]').count() === 1);
  await head('Deployment').getByRole('button').click();
  const down = await names();
  check('and the other way round', await head('Deployment').getAttribute('aria-sort') === 'descending' && down[0] !== up[0]);
  await head('Coverage').getByRole('button').click();
  const least = await tab.locator('#rows tbody tr:visible td:nth-child(3)').first().textContent();
  check('the least covered comes first', /[0-6]\/8/.test(least), least);
  await head('Verdict').getByRole('button').click();
}

// Everything can be reached and used with the keyboard, and the focus can be seen.
async function keyboard(browser, page) {
  const { tab, close } = await open(browser, page);
  const seen = [];
  for (let n = 0; n < 16; n += 1) {
    await tab.keyboard.press('Tab');
    seen.push(await tab.evaluate(() => {
      const at = document.activeElement;
      const style = getComputedStyle(at);
      return { name: at.id || at.textContent, outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 };
    }));
  }
  const names = seen.map((one) => one.name);
  const wanted = ['Deployments (420)', 'Coverage by state (24)', 'Not validated (7)', 'Findings by rule (9)', 'Could not be read (1)', 'words', 'verdict', 'false', 'Verdict', 'Deployment', 'Coverage', 'Not covered',
    'Health', 'Claim', 'Findings', 'next'];
  check('the keyboard reaches every control, in the order in which they are seen', names.join() === wanted.join(), names.join());
  check('the focus can be seen', seen.every((one) => one.outline), JSON.stringify(seen));
  await tab.keyboard.press('Enter');
  check('a button works by its key', await visible(tab) === 400);
  await close();
}

async function narrow(browser, page, folder) {
  for (const [width, height] of [[1280, 900], [1000, 800], [800, 700], [520, 800], [360, 740], [320, 640]]) {
    const { tab, close } = await open(browser, page, { viewport: { width, height } });
    const wide = await fits(tab);
    check(`nothing has to be scrolled sideways at ${width} pixels`, wide === '', wide);
    await close();
  }
  for (const [name, width, height, colorScheme] of [['desktop', 1280, 900, 'light'], ['dark', 1280, 900, 'dark'], ['phone', 360, 740, 'light'], ['phone-dark', 360, 740, 'dark']]) {
    const { tab, wrong, close } = await open(browser, page, { viewport: { width, height }, colorScheme });
    const found = await axe(tab);
    check(`axe finds nothing (${name})`, found === '', found);
    const worst = await contrast(tab);
    check(`text can be told from its ground (${name}): at least ${worst.ratio.toFixed(1)} to 1`, worst.ratio >= 4.5, worst.what);
    check(`nothing goes wrong (${name})`, wrong.length === 0, wrong.join('\n'));
    if (folder) {
      await tab.screenshot({ path: path.join(folder, `${name}.png`) });
      await tab.locator('#deployments').scrollIntoViewIfNeeded();
      await tab.evaluate(() => document.querySelector('#deployments').scrollIntoView());
      await tab.screenshot({ path: path.join(folder, `${name}-rows.png`) });
      await tab.evaluate(() => document.querySelector('footer').scrollIntoView({ block: 'end' }));
      await tab.screenshot({ path: path.join(folder, `${name}-end.png`) });
    }
    await close();
  }
}

async function dark(browser, page) {
  const grounds = [];
  for (const colorScheme of ['light', 'dark']) {
    const { tab, close } = await open(browser, page, { colorScheme });
    grounds.push(await tab.evaluate(() => getComputedStyle(document.body).backgroundColor));
    await close();
  }
  check('the dark scheme is another one', grounds[0] !== grounds[1], grounds.join());
}

// Were a name ever written as it is, the policy would still let nothing run.
async function policy(browser, page, folder) {
  const broken = path.join(folder, 'broken.html');
  const text = fs.readFileSync(page, 'utf8');
  const attack = '<script>document.title="owned"</script><img src="x" onerror="document.title=\'owned\'"><p id="styled" style="color:rgb(1,2,3)">a</p>';
  fs.writeFileSync(broken, text.replace('<main>', `<main>${attack}`));
  const { tab, wrong, close } = await open(browser, broken);
  const color = await tab.evaluate(() => getComputedStyle(document.querySelector('#styled')).color);
  const blocked = wrong.filter((one) => one.includes('The action has been blocked')).length;
  check('the policy stops a script, an event handler, an image and a style that were brought in', await tab.title() !== 'owned'
    && color !== 'rgb(1, 2, 3)' && blocked === 4, wrong.join('\n'));
  await close();
}

async function main() {
  const kept = process.argv[2];
  const folder = kept ?? fs.mkdtempSync(path.join(os.tmpdir(), 'browser-'));
  fs.mkdirSync(folder, { recursive: true });
  const { all, page } = makePage(folder);
  const browser = await chromium.launch({
    executablePath: process.env.BROWSER,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
  try {
    await withoutScript(browser, page);
    const { tab, wrong, close } = await open(browser, page);
    check('names are shown and not run', await tab.title() !== 'owned' && await tab.locator('img, h1:has-text("gone")').count() === 0);
    check('a name is shown as it was written', await tab.getByText(HOSTILE[0]).count() > 0);
    await filter(tab, all);
    await sort(tab);
    check('nothing goes wrong, and no request leaves', wrong.length === 0, wrong.join('\n'));
    await close();
    await keyboard(browser, page);
    await dark(browser, page);
    await policy(browser, page, folder);
    await narrow(browser, page, kept);
  } finally {
    await browser.close();
    if (!kept) fs.rmSync(folder, { recursive: true, force: true });
  }
  console.log(`browser: ${passed} checks passed`);
}

main().catch((error) => {
  console.log(`FAILED  ${error.message ?? error}`);
  process.exitCode = 1;
});
