#!/bin/sh
# Builds the image without a registry: a root file system of Debian packages, and MindInsight installed into it.
#
#   sudo docker/build-from-debian.sh mindinsight.tar
#   docker import --change 'ENTRYPOINT ["mindinsight-container"]' \
#     --change 'CMD ["start", "--foreground", "--host", "0.0.0.0"]' \
#     --change 'ENV MINDINSIGHT_SUMMARY_BASE_DIR=/summary PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1' \
#     --change 'EXPOSE 8080' --change 'VOLUME /workspace' mindinsight.tar mindinsight:3
#
# Needs root, debootstrap, and a mirror of Debian and an index of Python packages that can be reached.
# SUITE (trixie) and MIRROR name Debian's; PIP_INDEX_URL, as ever, Python's.
set -eu

target=${1:?usage: build-from-debian.sh FILE.tar}
source=$(cd "$(dirname "$0")/.." && pwd)
root=$(mktemp -d)
chmod 755 "$root"
trap 'rm -rf "$root"' EXIT

debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates,util-linux \
    "${SUITE:-trixie}" "$root" ${MIRROR:+"$MIRROR"} >/dev/null

wheels=$(mktemp -d)
python3 -m pip wheel --quiet --no-deps --wheel-dir "$wheels" "$source"
python3 -m venv "$root/tmp/pip" # whose pip installs for the Python of the image
version=$(chroot "$root" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
chroot "$root" python3 -m venv --without-pip /opt/mindinsight
"$root/tmp/pip/bin/python" -m pip install --quiet --no-compile --only-binary :all: --python-version "$version" \
    --target "$root/opt/mindinsight/lib/python$version/site-packages" "$wheels"/mindinsight-*.whl
rm -rf "$root/tmp/pip" "$wheels"

printf '#!/opt/mindinsight/bin/python\nimport sys\nfrom mindinsight.server.commands.main import main\nsys.exit(main())\n' \
    >"$root/usr/local/bin/mindinsight"
install -m 755 "$source/docker/entrypoint.sh" "$root/usr/local/bin/mindinsight-container"
chmod 755 "$root/usr/local/bin/mindinsight"
chroot "$root" useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin mindinsight
install -d -m 1777 "$root/workspace"
install -d "$root/summary"
rm -rf "$root/var/cache/apt" "$root/var/lib/apt/lists" "$root/usr/share/doc" "$root/usr/share/locale"

tar -C "$root" --numeric-owner -cf "$target" .
echo "$target: $(du -h "$target" | cut -f1)"
