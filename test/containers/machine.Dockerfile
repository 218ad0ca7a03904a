# The machine on which systemd.containers.ts repeats the commands of install.md without a network: it has the project with its packages, and
# in npm's cache what npm fetches when it installs the package of `npm pack`.
FROM debian-systemd
WORKDIR /root/sluice
COPY package.json package-lock.json .npmrc ./
COPY test/package.json ./test/
RUN npm ci --workspaces=false --ignore-scripts
RUN mkdir /tmp/package && npm pack --pack-destination /tmp/package && cd /tmp/package && npm install ./*.tgz && rm -r /tmp/package
COPY . .
ENV NPM_CONFIG_OFFLINE=true
