/** Names of browsers in user agents, the specific before the general: nearly all of them also name Safari. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bVersion\/.{1,40}Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
]

const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** A readable name of a browser: `Chrome · Windows`. '' when it is unknown. */
export function describeBrowser(userAgent: string): { name: string; mobile: boolean } {
  const nameIn = (table: typeof browsers) => table.find(([sign]) => sign.test(userAgent))?.[1]
  const name = [nameIn(browsers), nameIn(systems)].filter((part) => part !== undefined).join(' · ')
  return { name, mobile: /\b(?:Mobile|iPhone|Android)\b/.test(userAgent) }
}
