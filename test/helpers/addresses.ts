/** Each group: addresses, whether they are public, and whether channels must not use them even if private ones are allowed. */
const corpus: readonly { why: string; isPublic: boolean; forbidden: boolean; addresses: string }[] = [
  {
    why: 'public IPv4',
    isPublic: true,
    forbidden: false,
    addresses:
      '1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 172.15.255.255 172.32.0.0 191.255.255.255 192.1.0.0 198.17.255.255 198.20.0.0 223.255.255.255',
  },
  {
    why: 'public IPv6',
    isPublic: true,
    forbidden: false,
    addresses: '2001:4860:4860::8888 2606:4700::1111 2a00:1450:4001:800::200e 2400:cb00::1 2001:200::1 3ffe::1',
  },
  { why: 'this network', isPublic: false, forbidden: true, addresses: '0.0.0.0 0.0.0.1 0.255.255.255' },
  {
    why: 'private IPv4',
    isPublic: false,
    forbidden: false,
    addresses: '10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255',
  },
  { why: 'loopback', isPublic: false, forbidden: false, addresses: '127.0.0.1 127.1.2.3 127.255.255.255 ::1 0:0:0:0:0:0:0:1' },
  { why: 'shared address space', isPublic: false, forbidden: false, addresses: '100.64.0.0 100.100.100.199 100.127.255.255' },
  {
    why: 'link-local and metadata',
    isPublic: false,
    forbidden: true,
    addresses: '169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255 fe80::1 fe80::a9fe:a9fe febf::1 fe80::1%eth0',
  },
  {
    why: 'platform services',
    isPublic: false,
    forbidden: true,
    addresses: '100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254 fd00:0ec2:0:0:0:0:0:254 fd20:ce::254',
  },
  {
    why: 'protocol assignments and documentation',
    isPublic: false,
    forbidden: false,
    addresses:
      '192.0.0.1 192.0.0.8 192.0.0.170 192.0.2.1 198.51.100.7 203.0.113.9 192.88.99.1 192.31.196.1 192.52.193.1 192.175.48.1',
  },
  {
    why: 'benchmarks and reserved',
    isPublic: false,
    forbidden: false,
    addresses: '198.18.0.1 198.19.255.255 240.0.0.1 254.255.255.255',
  },
  {
    why: 'multicast and broadcast',
    isPublic: false,
    forbidden: true,
    addresses: '224.0.0.1 239.255.255.250 255.255.255.255 ff02::1 ff0e::1 ffff::1',
  },
  { why: 'unspecified', isPublic: false, forbidden: true, addresses: ':: 0:0:0:0:0:0:0:0' },
  { why: 'unique local IPv6', isPublic: false, forbidden: false, addresses: 'fc00::1 fd00::1 fd12:3456:789a::1 fdff:ffff::1' },
  {
    why: 'site-local, discard-only, documentation, ORCHID, benchmarking, segment routing',
    isPublic: false,
    forbidden: false,
    addresses: 'fec0::1 100::1 100:0:0:1::1 2001:db8::1 3fff::1 2001:10::1 2001:20::1 2001:2::1 2620:4f:8000::1 5f00::1 4000::1',
  },
  { why: 'mapped public', isPublic: true, forbidden: false, addresses: '::ffff:8.8.8.8 ::ffff:808:808 0:0:0:0:0:ffff:8.8.8.8' },
  {
    why: 'mapped private',
    isPublic: false,
    forbidden: false,
    addresses: '::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::FFFF:192.168.1.1 0:0:0:0:0:ffff:a00:1',
  },
  {
    why: 'mapped forbidden',
    isPublic: false,
    forbidden: true,
    addresses:
      '::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::ffff:0.0.0.0 ::ffff:100.100.100.200 ::ffff:168.63.129.16 ::ffff:255.255.255.255',
  },
  { why: 'compatible', isPublic: false, forbidden: false, addresses: '::127.0.0.1 ::7f00:1 ::10.0.0.1 ::8.8.8.8' },
  { why: 'compatible forbidden', isPublic: false, forbidden: true, addresses: '::169.254.169.254 ::a9fe:a9fe ::224.0.0.1' },
  { why: 'translated', isPublic: false, forbidden: false, addresses: '::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8' },
  { why: 'translated forbidden', isPublic: false, forbidden: true, addresses: '::ffff:0:169.254.169.254 ::ffff:0:a9fe:a9fe' },
  { why: 'NAT64 public', isPublic: true, forbidden: false, addresses: '64:ff9b::8.8.8.8 64:ff9b::808:808' },
  {
    why: 'NAT64 private',
    isPublic: false,
    forbidden: false,
    addresses: '64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::192.168.0.1',
  },
  {
    why: 'NAT64 forbidden',
    isPublic: false,
    forbidden: true,
    addresses: '64:ff9b::169.254.169.254 64:ff9b::a9fe:a9fe 64:ff9b::0.0.0.0',
  },
  {
    why: 'local NAT64',
    isPublic: false,
    forbidden: false,
    addresses: '64:ff9b:1::8.8.8.8 64:ff9b:1::7f00:1 64:ff9b:1:808:8:800::',
  },
  {
    why: 'local NAT64 forbidden',
    isPublic: false,
    forbidden: true,
    addresses: '64:ff9b:1::a9fe:a9fe 64:ff9b:1:a9fe:a9:fe00:: 64:ff9b:1:abcd::169.254.169.254',
  },
  { why: '6to4 public', isPublic: true, forbidden: false, addresses: '2002:808:808:: 2002:0808:0808::1' },
  { why: '6to4 private', isPublic: false, forbidden: false, addresses: '2002:7f00:1:: 2002:a00:1::1 2002:c0a8:101::1' },
  { why: '6to4 forbidden', isPublic: false, forbidden: true, addresses: '2002:a9fe:a9fe:: 2002:a9fe:a9fe::1 2002:e000:1::' },
  { why: 'Teredo', isPublic: false, forbidden: false, addresses: '2001:0:4136:e378:8000:63bf:f7f7:f7f7 2001::80ff:fffe' },
  { why: 'Teredo forbidden', isPublic: false, forbidden: true, addresses: '2001:0:4136:e378:8000:63bf:5601:5601' },
  {
    why: 'not an address',
    isPublic: false,
    forbidden: true,
    addresses: 'localhost 127.1 0x7f.1 2130706433 017700000001 1.2.3 1.2.3.4.5 [::1] 1.2.3.4:80 ::ffff:999.1.1.1 ::1::2',
  },
]

export const addresses = corpus.flatMap(({ addresses: listed, ...expected }) =>
  listed.split(' ').map((address) => ({ address, ...expected })),
)
