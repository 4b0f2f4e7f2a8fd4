// Looks at a running dashboard as a person would: every page, a moving chart, a decision's reason,
// keys, a phone; no error on the console, no request to anybody else.
//
//   node dashboard.mjs http://127.0.0.1:9317/ OUT_DIR PLAYWRIGHT_DIR CHROMIUM
import {createRequire} from 'node:module';
import {mkdirSync} from 'node:fs';

const [url, out, modules, executablePath] = process.argv.slice(2);
const {chromium} = createRequire(modules + '/')('playwright-core');
mkdirSync(out, {recursive: true});

let failed = 0;
function check(what, good, detail = '') {
  console.log(`${good ? 'ok' : 'NOT OK'}  ${what}${good || !detail ? '' : `: ${detail}`}`);
  if (!good) failed++;
}

const browser = await chromium.launch({executablePath, args: ['--no-sandbox']});
async function open(options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  // The pod makes a network link, at which Chromium gives up requests; the page asks again by itself.
  page.on('console', message => { if (message.type() === 'error' && !message.text().includes('ERR_NETWORK_CHANGED')) check('no error on the console', false, message.text()); });
  page.on('pageerror', error => check('no exception', false, error.message));
  page.on('request', request => { if (!request.url().startsWith(url)) check('no request to anybody else', false, request.url()); });
  await page.goto(url);
  await page.waitForSelector('#link.live');
  return page;
}

// Asks until the answer is yes. Not waitForFunction, which the page's own policy forbids.
async function until(page, ask, argument) {
  for (const end = Date.now() + 30000; Date.now() < end; await page.waitForTimeout(100))
    if (await page.evaluate(ask, argument)) return true;
  return false;
}

const page = await open({viewport: {width: 1080, height: 860}, colorScheme: 'light'});
check('one machine opens on its own page', await until(page, () => document.querySelector('nav a[aria-current]')?.dataset.page === 'node'));
await page.keyboard.press('1');
await page.waitForSelector('.tile');
check('the cluster has its node', (await page.locator('.tile').count()) >= 1);
check('the last hour is drawn', await until(page, () => document.querySelector('main canvas')?.width > 0));
check('who waits and why is said', await until(page, () => document.querySelector('main').innerText.includes('Waiting for a node')));
await page.screenshot({path: `${out}/cluster-light.png`});

await page.keyboard.press('2');
await page.waitForSelector('canvas');
const before = await page.evaluate(() => document.querySelector('canvas').toDataURL());
check('the chart moves', await until(page, old => document.querySelector('canvas').toDataURL() !== old, before));
check('last week is there', await until(page, () => document.querySelector('#week p:last-child')?.textContent.length > 0));
check('pods are listed', await until(page, () => document.querySelectorAll('main table tbody tr').length > 0));
// A mark on the time axis opens its reason, by pointer and by keys.
await page.locator('main select[aria-label="Time shown"]').selectOption('900');
check('decisions are marked on the chart', await until(page, () => document.querySelector('canvas').dataset.marks));
const chart = page.locator('canvas').first();
const at = Number((await chart.getAttribute('data-marks')).split(' ').pop());
await chart.click({position: {x: at, y: 12}});
check('a mark opens its reason', (await page.locator('dialog[open]').innerText()).includes('why'));
await page.keyboard.press('Escape');
await page.locator('main select[aria-label="Time shown"]').selectOption('60');
await page.evaluate(() => { document.activeElement.blur(); window.scrollTo(0, 0); });
await page.screenshot({path: `${out}/node-light.png`});

await page.keyboard.press('4');
await page.waitForSelector('main td button', {timeout: 30000});
await page.locator('main td button').first().click();
await page.waitForSelector('dialog[open] dd');
check("a decision's reason opens", (await page.locator('dialog[open]').innerText()).includes('why'));
await page.keyboard.press('Escape');
check('Escape closes it', (await page.locator('dialog[open]').count()) === 0);

await page.keyboard.press('5');
await page.waitForSelector('main pre');
check('the configuration is shown', (await page.locator('main h3').allInnerTexts()).includes('colocation-config'));
check("the linter's findings are shown", (await page.locator('main').innerText()).includes('mangrove check config'));
await page.keyboard.press('6');
await page.waitForSelector('.quota .gauge .lent');
check('quotas have bars', (await page.locator('.gauge').count()) >= 4);
check('who borrows from whom is said', (await page.locator('main').innerText()).includes('Who borrows from whom'));
await page.screenshot({path: `${out}/quotas-light.png`});
await page.keyboard.press('3');
await page.waitForSelector('main tbody tr');
await page.getByLabel('by gang').check();
const groups = () => [...document.querySelectorAll('main h3')].map(title => title.innerText).join('; ');
check('pods are grouped by gang, those that wait first', await until(page, () => [...document.querySelectorAll('main h3')].map(title => title.innerText).join('; ')
  === 'Gang default/train: 2 pods, 2 wait; Gang default/etl: 2 pods, 0 wait; No gang'), await page.evaluate(groups));
check('each group has its own rows', (await page.locator('main table').first().locator('tbody tr').count()) === 2);
await page.evaluate(() => { document.activeElement.blur(); window.scrollTo(0, 0); });
await page.screenshot({path: `${out}/pods-by-gang-light.png`});
await page.getByLabel('by gang').uncheck();
await page.evaluate(() => document.activeElement.blur());  // keys are the page's again
await page.keyboard.press('/');
await page.keyboard.type('no-such-pod');
check('the filter filters', await until(page, () => document.querySelectorAll('main tbody tr').length === 0));

// A part that does not arrive the first time is asked for again; its error on the console is the one that is wanted.
let lost = 0;
const halfLoaded = await browser.newContext();
await halfLoaded.route('**/views.js', route => lost++ ? route.continue() : route.abort('connectionreset'));
const healing = await halfLoaded.newPage();
await healing.goto(url);
await healing.waitForSelector('#link.live');
check('a page that came in parts loads itself again', lost > 1);
await halfLoaded.close();

const dark = await open({viewport: {width: 1080, height: 860}, colorScheme: 'dark'});
await dark.goto(`${url}#/node`);
await dark.waitForSelector('canvas');
await dark.locator('main select[aria-label="Time shown"]').selectOption('60');
await dark.waitForTimeout(1500);  // one more tick, for the picture
await dark.evaluate(() => { document.activeElement.blur(); window.scrollTo(0, 0); });
await dark.screenshot({path: `${out}/node-dark.png`});
const phone = await open({viewport: {width: 390, height: 844}, isMobile: true, colorScheme: 'light'});
await phone.goto(`${url}#/cluster`);
await phone.waitForSelector('.tile');
check('a phone need not scroll sideways', await phone.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
await phone.screenshot({path: `${out}/cluster-phone.png`});
for (const name of ['node', 'pods', 'decisions', 'config']) {
  await phone.goto(`${url}#/${name}`);
  await phone.waitForSelector('main h2');
  if (name === 'pods') await phone.getByLabel('by gang').check();
  check(`nor on the page ${name}`, await until(phone, () => document.documentElement.scrollWidth <= window.innerWidth));
}

await browser.close();
console.log(failed ? `${failed} check(s) failed` : 'all checks passed');
process.exit(failed ? 1 : 0);
