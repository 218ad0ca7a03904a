import encode from 'qr'

/** Modules of quiet zone around the code, as the standard wants it. */
const border = 4

/** A QR code, drawn here: its content never leaves the browser. Black on white in both themes, as cameras need it. */
export function QrCode({ text, label, size = 200 }: { text: string; label: string; size?: number }) {
  const rows = encode(text, 'raw', { ecc: 'medium', border })
  const path = rows.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg
      role="img"
      aria-label={label}
      width={size}
      height={size}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      shapeRendering="crispEdges"
      style={{ background: '#fff', borderRadius: 8, maxWidth: '100%' }}
    >
      <path d={path} fill="#000" />
    </svg>
  )
}
